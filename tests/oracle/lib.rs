//! Nothing: the comparison is in `tests/`.
