// Connections of Node, right or wrong in the way that the first argument says. It trusts what NODE_EXTRA_CA_CERTS names.
//
//     client.js WAY ADDRESS PORT NAME...
'use strict';

const https = require('node:https');
const tls = require('node:tls');

const [way, host, port, ...names] = process.argv.slice(2);
const ROUNDS = 4;

const request = (name) => `GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`;

// One request on a connection of tls.connect, until it is closed.
const finished = (socket, name) => new Promise((resolve, reject) => {
  socket.on('error', reject);
  socket.on('close', resolve);
  socket.resume();
  socket.write(request(name));
});

const get = (agent, name) => new Promise((resolve, reject) => {
  const options = { agent, host, port, servername: name, headers: { host: name, connection: 'close' } };
  const request = https.get(options, (response) => {
    response.resume();
    response.on('end', resolve);
  });
  request.on('error', reject);
});

const ways = {
  async right() {
    let saved;
    for (const name of names) {
      const socket = tls.connect({ host, port, servername: name, session: saved });
      socket.on('session', (session) => { saved = session; });
      await finished(socket, name);
    }
  },
  // Sessions are saved and not handed over.
  async never() {
    let saved;
    for (const host of names) {
      const socket = tls.connect({ host, port, servername: host });
      socket.on('session', (session) => { saved = session; });
      await finished(socket, host);
    }
  },
  // The session is taken when the handshake is over, which is before the tickets came.
  async 'close-early'() {
    let saved;
    for (const name of names) {
      const socket = tls.connect({ host, port, servername: name, session: saved });
      socket.on('secureConnect', () => { saved = socket.getSession(); socket.end(); });
      await new Promise((resolve) => socket.resume().on('close', resolve));
    }
  },
  // The first connection's session, offered to all others.
  async reuse() {
    let saved;
    for (const name of names) {
      const socket = tls.connect({ host, port, servername: name, session: saved });
      socket.on('session', (session) => { saved ??= session; });
      await finished(socket, name);
    }
  },
  // The latest session, whoever gave it.
  async 'one-for-all'() {
    const sessions = {};
    let latest;
    for (const name of names) {
      const socket = tls.connect({ host, port, servername: name, session: latest });
      socket.on('session', (session) => { latest = sessions[name] = session; });
      await finished(socket, name);
    }
  },
  async agent() {
    const agent = new https.Agent({ keepAlive: true, maxCachedSessions: 100 });
    for (const name of names) await get(agent, name);
  },
  // Without an agent each request makes one of its own.
  async 'no-agent'() {
    const agent = false;
    for (const name of names) await get(agent, name);
  },
  async 'agent-of-one'() {
    const agent = new https.Agent({ maxCachedSessions: 1 });
    for (const name of names) await get(agent, name);
  },
  // One session for all that begin at once.
  async 'agent-at-once'() {
    const agent = new https.Agent();
    const [name] = names;
    await get(agent, name);
    await Promise.all(Array.from({ length: ROUNDS }, () => get(agent, name)));
  },
};

ways[way]().catch((error) => { console.error(error); process.exit(1); });
