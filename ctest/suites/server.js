// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A server for programs that make load. Arguments: address, port, and 2 for HTTP/2.
'use strict';
const [address, port, version] = process.argv.slice(2);
const answer = (request, response) => response.end('hello\n'.repeat(100));
const server = version === '2' ? require('http2').createServer(answer) : require('http').createServer(answer);
server.listen(Number(port), address);
process.on('SIGTERM', () => process.exit(0));
