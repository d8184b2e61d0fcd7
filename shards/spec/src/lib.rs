//! The words commands are declared in
