//! Every command, declared once
