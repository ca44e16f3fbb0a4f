//! Measures one target: owns the clock and the sockets, drives the engine.
