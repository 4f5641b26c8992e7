//! The client against servers that misbehave, over the real wire format: programs that are shell scripts, and servers
//! on ports of this machine that the system chose.

mod fixture;
mod http;
mod login;
mod program;
mod server;
