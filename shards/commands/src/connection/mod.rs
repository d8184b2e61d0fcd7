//! Commands about the connection itself; they run where the client is.

mod auth;
mod client;
mod client_kill;
mod client_list;
mod client_unblock;
mod simple;

use crate::command::Command;

/// Every command of this family.
pub(crate) static ALL: &[&Command] = &[
    &auth::AUTH,
    &auth::HELLO,
    &client::CLIENT,
    &simple::ECHO,
    &simple::PING,
    &simple::QUIT,
    &simple::RESET,
    &simple::SELECT,
];
