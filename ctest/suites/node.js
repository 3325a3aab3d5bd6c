// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Things that programs in Node.js do with sockets. Arguments: address, and which of them.
'use strict';
const assert = require('assert');
const cluster = require('cluster');
const dgram = require('dgram');
const http = require('http');
const net = require('net');

const [address, which] = process.argv.slice(2);
const once = (emitter, event) => new Promise((resolve, reject) => {
  emitter.once(event, resolve);
  if (event !== 'error') emitter.once('error', reject);
});

async function listening(server) {
  server.listen(0, address);
  await once(server, 'listening');
  return server.address().port;
}

// Up to the end, which leaves the stream open for writing.
const all = (stream) => new Promise((resolve, reject) => {
  const parts = [];
  stream.on('data', (part) => parts.push(part));
  stream.on('end', () => resolve(Buffer.concat(parts)));
  stream.on('error', reject);
});

const get = (options) => new Promise((resolve, reject) => {
  http.get({ host: address, ...options }, (response) => all(response).then((body) => resolve(body), reject)).on('error', reject);
});

const things = {
  async echo() {
    const server = net.createServer((socket) => socket.pipe(socket));
    const client = net.connect(await listening(server), address);
    await once(client, 'connect');
    assert.strictEqual(client.remoteAddress, address);
    client.end('hello');
    assert.strictEqual((await all(client)).toString(), 'hello');
    server.close();
    await once(server, 'close');
  },
  async 'half-open'() {
    const server = net.createServer({ allowHalfOpen: true }, async (socket) => {
      const asked = await all(socket);
      socket.end(`asked ${asked.length}`);
    });
    const client = net.connect({ port: await listening(server), host: address, allowHalfOpen: true });
    client.end(Buffer.alloc(50000));
    assert.strictEqual((await all(client)).toString(), 'asked 50000');
    server.close();
  },
  async large() {
    const data = require('crypto').randomBytes(8 << 20);
    const server = net.createServer((socket) => socket.end(data));
    const client = net.connect(await listening(server), address);
    assert.ok((await all(client)).equals(data));
    server.close();
  },
  async many() {
    const server = net.createServer((socket) => socket.pipe(socket));
    const port = await listening(server);
    await Promise.all([...Array(50).keys()].map(async (number) => {
      const client = net.connect(port, address);
      client.end(`number ${number}`);
      assert.strictEqual((await all(client)).toString(), `number ${number}`);
    }));
    server.close();
  },
  async 'keep-alive'() {
    const sockets = new Set();
    const server = http.createServer((request, response) => {
      sockets.add(request.socket);
      response.end(request.url);
    });
    const port = await listening(server);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    for (let i = 0; i < 50; i++) assert.strictEqual((await get({ port, agent, path: `/${i}` })).toString(), `/${i}`);
    assert.strictEqual(sockets.size, 1);
    agent.destroy();
    server.close();
  },
  async agents() {
    const server = http.createServer((request, response) => response.end(Buffer.alloc(100000, request.url)));
    const port = await listening(server);
    const bodies = await Promise.all([...Array(40).keys()].map((i) => get({ port, path: `/${i}`, agent: false })));
    bodies.forEach((body, i) => assert.ok(body.length === 100000 && body.toString().startsWith(`/${i}`)));
    server.close();
  },
  async refused() {
    const server = net.createServer();
    const port = await listening(server);
    server.close();
    await once(server, 'close');
    assert.strictEqual((await once(net.connect(port, address), 'error')).code, 'ECONNREFUSED');
  },
  async timeout() {
    const server = net.createServer(() => {});
    const client = net.connect(await listening(server), address);
    client.setTimeout(200);
    await once(client, 'timeout');
    client.destroy();
    server.close();
    await once(server, 'close').catch(() => {});
  },
  async cluster() {
    cluster.setupPrimary({ exec: __filename, args: [address, 'worker'] });
    const workers = [cluster.fork(), cluster.fork()];
    const port = (await Promise.all(workers.map((worker) => once(cluster, 'listening').then(() => 8095))))[0];
    for (let i = 0; i < 20; i++) assert.match((await get({ port, agent: false })).toString(), /^worker \d+$/);
    workers.forEach((worker) => worker.kill());
  },
  async datagrams() {
    const server = dgram.createSocket('udp4');
    server.on('message', (message, from) => server.send(message, from.port, from.address));
    server.bind(0, address);
    await once(server, 'listening');
    const client = dgram.createSocket('udp4');
    for (let i = 0; i < 30; i++) {
      client.send(`number ${i}`, server.address().port, address);
      assert.strictEqual((await once(client, 'message')).toString(), `number ${i}`);
    }
    client.close();
    server.close();
  },
  async tls() {
    const tls = require('tls');
    const { execFileSync } = require('child_process');
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'k.pem', '-out', 'c.pem', '-days', '2',
      '-subj', '/CN=localhost'], { stdio: 'ignore', env: { PATH: process.env.PATH } });
    const [key, cert] = ['k.pem', 'c.pem'].map((file) => require('fs').readFileSync(file));
    const server = tls.createServer({ key, cert }, (socket) => socket.pipe(socket));
    const client = tls.connect(await listening(server), address, { rejectUnauthorized: false });
    await once(client, 'secureConnect');
    const data = Buffer.alloc(300000, 'x');
    client.end(data);
    assert.ok((await all(client)).equals(data));
    server.close();
  },
  async destroy() {
    const server = net.createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.resetAndDestroy());
    });
    const client = net.connect(await listening(server), address);
    client.write('x');
    assert.strictEqual((await once(client, 'error')).code, 'ECONNRESET');
    server.close();
  },
  async worker() {
    http.createServer((request, response) => response.end(`worker ${process.pid}`)).listen(8095, address);
    await once(process, 'disconnect');
  },
};

things[which]().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
