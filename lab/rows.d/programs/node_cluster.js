// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Workers of a cluster, which get connections ('rr') or the listener ('none').
const cluster = require('cluster'), net = require('net');
const [, , address, policy] = process.argv;
const CLIENTS = 6;

function ask(port, number, done) {
  const client = net.connect(port, address, () => client.write('question ' + number));
  let own, got = '';
  client.on('connect', () => { own = client.localPort; });
  client.on('data', (data) => { got += data; });
  client.on('error', (error) => console.log(error.code));
  client.on('close', () => {
    console.log(got);
    done(got === JSON.stringify(['question ' + number, address, own]));
  });
}

cluster.schedulingPolicy = policy === 'none' ? cluster.SCHED_NONE : cluster.SCHED_RR;
if (cluster.isPrimary) {
  let listening = 0, left = CLIENTS, wrong = 0;
  for (let i = 0; i < 2; i++) cluster.fork();
  cluster.on('listening', (worker, { port }) => {
    if (++listening < 2) return;
    for (let i = 0; i < CLIENTS; i++) {
      ask(port, i, (good) => {
        wrong += !good;
        if (--left) return;
        for (const id in cluster.workers) cluster.workers[id].kill();
        process.exit(wrong ? 1 : 0);
      });
    }
  });
} else {
  net.createServer((socket) => socket.on('data', (question) => socket.end(JSON.stringify(
    [question.toString(), socket.remoteAddress, socket.remotePort])))).listen(0, address);
}
