"""A name server on port 53 of 127.0.0.1, for which every name has the address 127.0.0.1.

It prints a line as soon as it can be asked.
"""

import socket
import struct

ADDRESS_QUESTION = b"\0\1\0\1"
HEAD_BYTES = 12

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
    server.bind(("127.0.0.1", 53))
    print("ready", flush=True)
    while True:
        query, client = server.recvfrom(512)
        # A question is a name, which ends with a zero, and its type and class.
        end = query.index(0, HEAD_BYTES) + 1 + len(ADDRESS_QUESTION)
        answers = int(query[:end].endswith(ADDRESS_QUESTION))
        # Flags: an answer, recursion was desired and is available.
        head = query[:2] + struct.pack(">5H", 0x8180, 1, answers, 0, 0)
        # The name of the question, its type and class, a minute, and an address of four bytes.
        answer = b"\xc0\x0c" + ADDRESS_QUESTION + struct.pack(">IH", 60, 4) + bytes([127, 0, 0, 1])
        server.sendto(head + query[HEAD_BYTES:end] + answers * answer, client)
