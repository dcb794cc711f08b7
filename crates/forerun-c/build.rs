//! How the shared library is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The number grows when a program must be compiled anew: when a function or a field changes or goes.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libforerun_c.so.0");
    // Threads of an engine end some time after it is closed, and need the code until then.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
