// Connections of Node, right or wrong in the way that the first argument says.
//
//     client.js WAY CA HOST PORT
'use strict';

const fs = require('node:fs');
const https = require('node:https');
const tls = require('node:tls');

const [way, ca, host, port] = process.argv.slice(2);
const options = { ca: fs.readFileSync(ca), host, servername: host, port: Number(port) };
const REQUEST = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
const ROUNDS = 4;

// tls.connect with whatever is saved; resolves to what is saved next.
const connect = (saved, keeps) => new Promise((resolve, reject) => {
  const socket = tls.connect({ ...options, session: saved });
  socket.on('session', (session) => { if (keeps) saved = session; });
  socket.on('error', reject);
  socket.on('close', () => resolve(saved));
  socket.resume();
  socket.write(REQUEST);
});

const get = (agent) => new Promise((resolve, reject) => {
  const request = https.get({ ...options, agent, headers: { connection: 'close' } }, (response) => {
    response.resume();
    response.on('end', resolve);
  });
  request.on('error', reject);
});

const ways = {
  async never() {
    for (let round = 0; round < ROUNDS; round += 1) await connect(undefined, false);
  },
  async right() {
    let saved;
    for (let round = 0; round < ROUNDS; round += 1) saved = await connect(saved, true);
  },
  async agent() {
    const agent = new https.Agent({ keepAlive: true, maxCachedSessions: 100 });
    for (let round = 0; round < ROUNDS; round += 1) await get(agent);
  },
  async 'agent-rebuilt'() {
    for (let round = 0; round < ROUNDS; round += 1) await get(new https.Agent());
  },
  // One session for all that begin at once.
  async 'agent-at-once'() {
    const agent = new https.Agent({ maxCachedSessions: 100 });
    await get(agent);
    await Promise.all(Array.from({ length: ROUNDS }, () => get(agent)));
  },
};

ways[way]().catch((error) => { console.error(error); process.exit(1); });
