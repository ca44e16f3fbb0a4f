// An HTTPS server on Node's tls module which says of each connection what that module says of it.
//
//   node server.js PORT CERTIFICATE KEY LOWEST HIGHEST [OPTION...]
//
// with the options no-tickets, store-sessions, allow-no-dhe-kex, psk=IDENTITY:HEX, options=JAVASCRIPT (of tls.createServer),
// statements=JAVASCRIPT (about the server) and bare-sockets. What statements set as server.refuses is asked about each socket, and
// says who is answered with 403.
//
// It prints "listening", and for each connection "account PORT RESUMED VERSION CIPHER GROUP" before it answers.
'use strict';

const { constants } = require('node:crypto');
const fs = require('node:fs');
const net = require('node:net');
const tls = require('node:tls');

const [port, certificate, key, minVersion, maxVersion, ...options] = process.argv.slice(2);

const switches = { 'no-tickets': constants.SSL_OP_NO_TICKET, 'allow-no-dhe-kex': constants.SSL_OP_ALLOW_NO_DHE_KEX };
const [psk] = options.filter((option) => option.startsWith('psk=')).map((option) => option.slice('psk='.length).split(':'));

const [told] = options.filter((option) => option.startsWith('options=')).map((option) => option.slice('options='.length));

const settings = {
  cert: fs.readFileSync(certificate),
  key: fs.readFileSync(key),
  minVersion,
  maxVersion,
  secureOptions: options.reduce((set, option) => set | (switches[option] ?? 0), 0),
  ...(psk && {
    pskCallback: (socket, identity) => (identity === psk[0] ? Buffer.from(psk[1], 'hex') : null),
    // A PSK without a hash of its own is for SHA-256 (RFC 9846, section 4.3.11): such a suite must be chosen.
    ciphers: `TLS_AES_128_GCM_SHA256:${tls.DEFAULT_CIPHERS}`,
  }),
  // A test's own options, as they would stand in a program.
  ...(told && eval(`({${told}})`)),
};

const server = options.includes('bare-sockets') ? bareServer() : tls.createServer(settings);

// What programs do that wrap a socket themselves: nothing is set but what they set.
function bareServer() {
  const secureContext = tls.createSecureContext(settings);
  const server = net.createServer((socket) => {
    const secure = new tls.TLSSocket(socket, { ...settings, isServer: true, secureContext });
    secure.on('secure', () => server.emit('secureConnection', secure));
    secure.on('error', () => secure.destroy());
  });
  return server;
}

const [statements] = options.filter((option) => option.startsWith('statements=')).map((option) => option.slice('statements='.length));
if (statements) new Function('server', 'store', statements)(server, new Map());

// Node keeps no sessions of its own: they live where the application puts them.
if (options.includes('store-sessions')) {
  const sessions = new Map();
  server.on('newSession', (id, session, done) => {
    sessions.set(id.toString('hex'), session);
    done();
  });
  server.on('resumeSession', (id, resume) => resume(null, sessions.get(id.toString('hex')) ?? null));
}

server.on('secureConnection', (socket) => {
  const cipher = socket.getCipher().standardName;
  console.log('account', socket.remotePort, socket.isSessionReused(), socket.getProtocol(), cipher, '-');
  const body = 'ok\n';
  const status = server.refuses?.(socket) ? '403 Forbidden' : '200 OK';
  const head = `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  let request = '';
  socket.setEncoding('latin1');
  socket.on('data', (text) => {
    request += text;
    if (request.endsWith('\r\n\r\n')) socket.end(head + body);
  });
  socket.on('error', () => socket.destroy());
});

server.listen(Number(port), '127.0.0.1', () => console.log('listening'));
