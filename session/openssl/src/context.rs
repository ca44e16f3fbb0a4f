//! The configuration of a context.

use std::sync::Arc;

use openssl::error::ErrorStack;
use openssl::ssl::{Ssl, SslContextBuilder, SslOptions, SslSessionCacheMode};

use crate::callbacks;
use crate::sessions::{Sessions, Shared};

impl Sessions {
    /// Sets it on a context, in the place of OpenSSL's own keys and cache. Where the server chooses among contexts by SNI, sets it on each of them.
    ///
    /// # Errors
    /// What OpenSSL says, which has no memory for it.
    pub fn apply(self, builder: &mut SslContextBuilder) -> Result<(), ErrorStack> {
        builder.set_session_id_context(self.policy.as_bytes())?;
        let shared = Arc::new(Shared { begun: Ssl::new_ex_index()?, sessions: self });
        builder.set_ex_data(callbacks::index()?, Arc::clone(&shared));
        callbacks::set_lifetime(builder, shared.sessions.lifetime());
        if shared.sessions.store.is_none() {
            builder.set_session_cache_mode(SslSessionCacheMode::OFF);
            return callbacks::set_tickets(builder);
        }
        builder.set_session_cache_mode(SslSessionCacheMode::SERVER | SslSessionCacheMode::NO_INTERNAL);
        builder.set_options(SslOptions::NO_TICKET);
        let putting = Arc::clone(&shared);
        builder.set_new_session_callback(move |ssl, session| putting.put(ssl, &session));
        callbacks::set_lookup(builder, move |ssl, id| shared.get(ssl, id));
        Ok(())
    }
}
