//! The actor: sessions, gates, routing, execution, transactions
