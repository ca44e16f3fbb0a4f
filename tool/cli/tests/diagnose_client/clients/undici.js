// Requests of undici. Debian installs it where NODE_PATH has to say.
//
//     undici.js URL
'use strict';

const { Agent, request } = require('undici');

const agent = { dispatch: (options, handler) => new Agent().dispatch(options, handler) };

(async () => {
  for (let round = 0; round < 4; round += 1) {
    const { body } = await request(process.argv[2], { dispatcher: agent, headers: { connection: 'close' } });
    await body.text();
  }
  process.exit(0);
})();
