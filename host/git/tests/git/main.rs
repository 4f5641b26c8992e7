//! Changes of git's folder that real programs make, honest and hostile ones, brought back and looked at with real git.

mod anything;
mod attacks;
mod left;
mod nested;
mod operations;
mod workspace;
