/* lwIP's defaults fit GCC. */
