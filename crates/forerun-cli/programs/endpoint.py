"""What clients of S3 need besides the address of an endpoint."""

import os

BUCKET = "demo"
# Neither the store nor the server asks who reads, but clients sign their requests.
KEY, SECRET, REGION = "key", "secret", "us-east-1"


def environment(place):
    """For clients that take everything from the environment."""
    return {
        "AWS_ENDPOINT_URL": place,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    }


def is_local(place):
    return not isinstance(place, str)


def host(place):
    return place.removeprefix("http://")


os.environ["NO_PROXY"] = "127.0.0.1"
# The endpoint has no certificate, and rclone 1.60 does not start with it.
os.environ.pop("AWS_CA_BUNDLE", None)
