/* OpenSSL's plugin, but for one function, by the name that is defined. */
#define reprise_stack_v1 honest_stack
#include "openssl.c"
#include <stddef.h>
#undef reprise_stack_v1

#if defined CRASHES
static int crash(reprise_connection *connection) { (void)connection; abort(); }
#elif defined HANGS
static int hang(reprise_connection *connection)
{
    volatile int goes_on = 1;
    while (goes_on) (void)connection;
    return REPRISE_OK;
}
#elif defined LIES
static int lie(const reprise_connection *connection, reprise_facts *out)
{
    int result = facts(connection, out);
    out->resumed = 1;
    return result;
}
#elif defined FORGETS
static int forget(reprise_context *context, const reprise_session *session, reprise_connection **out)
{
    (void)session;
    return connection_new(context, NULL, out);
}
#elif defined CHATTERS
#include <stdio.h>
static int chatter(const reprise_options *options, reprise_context **out)
{
    puts("hello");
    fflush(stdout);
    return context_new(options, out);
}
#elif defined LEAKS
static void keep(reprise_session *session) { (void)session; }
#elif defined NOT_INITIALISED
static int fail(void) { return REPRISE_FAILED; }
#endif

const reprise_stack *reprise_stack_v1(void);

__attribute__((visibility("default"))) const reprise_stack *reprise_stack_v1(void)
{
    static reprise_stack table;
    table = *honest_stack();
#if defined CRASHES
    table.handshake = crash;
#elif defined HANGS
    table.handshake = hang;
#elif defined LIES
    table.facts = lie;
#elif defined FORGETS
    table.connection_new = forget;
#elif defined CHATTERS
    table.context_new = chatter;
#elif defined OTHER_ABI
    table.abi = 77;
#elif defined SHORT_TABLE
    table.size = 16;
#elif defined NULL_FUNCTION
    table.session_take = NULL;
#elif defined NULL_TABLE
    return NULL;
#elif defined NO_VERSION
    table.version = NULL;
#elif defined LEAKS
    table.session_free = keep;
#elif defined OLDER
    /* As the first header had it: what lies behind is none of its table. */
    table.size = offsetof(reprise_stack, early_write);
    table.early_write = (void *)16, table.early_read = (void *)16;
#elif defined NOT_INITIALISED
    table.init = fail;
#endif
    return &table;
}
