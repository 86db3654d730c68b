//! Comments on pull requests, the action and the workflows, against a GitHub that is made up: a server of this process
//! that keeps comments, turns pages, checks the token, and fails or interferes as a test asks it to.

mod action;
mod artifacts;
mod command;
mod conversation;
mod forks;
mod harmless;
mod release;
mod reports;
mod server;
mod trouble;
mod turnstile;
mod workflows;
