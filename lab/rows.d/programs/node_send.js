// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A parent accepts and sends its sockets to a child (child.send), which says what it finds: the addresses of TCP.
const net = require('net'), { fork } = require('child_process');
const address = process.argv[2];

function answer(socket) {
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 1000);
  socket.on('data', (question) => socket.end(JSON.stringify(
    [question.toString(), socket.remoteAddress, socket.remotePort, socket.localAddress, socket.localPort])));
  socket.resume();
}

function ask(port, number, child) {
  const client = net.connect(port, address, () => client.write('question ' + number));
  let own, got = '';
  client.on('connect', () => { own = client.localPort; });
  client.on('data', (data) => { got += data; });
  client.on('error', (error) => console.log(error.code));
  client.on('close', () => {
    console.log(got);
    if (got !== JSON.stringify(['question ' + number, address, own, address, port])) process.exit(1);
    if (number < 3) return ask(port, number + 1, child);
    child.kill();
    process.exit(0);
  });
}

if (address === 'child') {
  process.on('message', (message, socket) => { if (socket) answer(socket); });
} else {
  const child = fork(__filename, ['child']);
  const server = net.createServer({ pauseOnConnect: true }, (socket) => child.send('socket', socket));
  server.listen(0, address, () => ask(server.address().port, 0, child));
}
