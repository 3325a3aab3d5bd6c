# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Things that programs in Ruby do with sockets. Arguments: address, and which of them.
require 'drb'
require 'io/wait'
require 'net/http'
require 'openssl'
require 'socket'
require 'timeout'

ADDRESS = ARGV[0]

def same(wanted, got)
  raise "#{got.inspect} for #{wanted.inspect}" unless wanted == got
end

def server(&handler)
  listener = TCPServer.new(ADDRESS, 0)
  Thread.new { loop { Thread.new(listener.accept, &handler) } }
  listener.addr[1]
end

def raises(*errors)
  yield
rescue *errors
  nil
else
  raise "no #{errors}"
end

# A child with a server of Ruby's own; its port.
def child(code)
  out = IO.popen([RbConfig.ruby, '-e', code, ADDRESS])
  at_exit { Process.kill(:KILL, out.pid) }
  out.gets.to_i
end

THINGS = {
  echo: lambda {
    port = server { |peer| IO.copy_stream(peer, peer); peer.close }
    TCPSocket.open(ADDRESS, port) do |client|
      same ADDRESS, client.peeraddr[3]
      client.write 'hello'
      client.close_write
      same 'hello', client.read
    end
  },
  lines: lambda {
    port = server { |peer| peer.each_line { |line| peer.puts line.chomp.reverse } ; peer.close }
    client = TCPSocket.new(ADDRESS, port)
    100.times { |number| client.puts "line #{number}"; same "line #{number}".reverse, client.gets.chomp }
    client.close
  },
  large: lambda {
    data = Random.bytes(8 << 20)
    port = server { |peer| peer.write data; peer.close }
    same data, TCPSocket.open(ADDRESS, port, &:read)
  },
  many: lambda {
    port = server { |peer| peer.write peer.gets; peer.close }
    clients = 40.times.map { |number| [number, TCPSocket.new(ADDRESS, port)] }
    clients.each { |number, client| client.puts number }
    clients.each { |number, client| same "#{number}\n", client.read }
  },
  nonblock: lambda {
    port = server { |peer| sleep 0.2; peer.write 'late'; peer.close }
    client = Socket.new(:INET, :STREAM)
    begin
      client.connect_nonblock(Addrinfo.tcp(ADDRESS, port))
    rescue IO::WaitWritable
      IO.select(nil, [client], nil, 5)
    end
    raises(IO::WaitReadable) { client.read_nonblock(10) }
    same [[client], [], []], IO.select([client], nil, nil, 5)
    same 'late', client.read_nonblock(10)
    raises(EOFError) { client.wait_readable(5) && client.read_nonblock(10) }
  },
  accept_loop: lambda {
    Socket.tcp_server_sockets(ADDRESS, 0) do |sockets|
      Thread.new { Socket.accept_loop(sockets) { |peer, from| peer.write from.ip_address; peer.close } }
      20.times { same ADDRESS, Socket.tcp(ADDRESS, sockets[0].local_address.ip_port, &:read) }
    end
  },
  refused: lambda { raises(Errno::ECONNREFUSED) { TCPSocket.new(ADDRESS, 9) } },
  timeout: lambda {
    port = server { |_peer| sleep 5 }
    client = TCPSocket.new(ADDRESS, port)
    raises(Timeout::Error) { Timeout.timeout(0.2) { client.read(1) } }
  },
  fork: lambda {
    listener = TCPServer.new(ADDRESS, 0)
    workers = 3.times.map { fork { loop { peer = listener.accept; peer.puts Process.pid; peer.close } } }
    pids = 30.times.map { TCPSocket.open(ADDRESS, listener.addr[1], &:read).to_i }.uniq
    workers.each { |pid| Process.kill(:KILL, pid); Process.wait(pid) }
    same [], pids - workers
  },
  spawn: lambda {
    port = server { |peer| Process.wait(spawn('cat', in: peer, out: peer)); peer.close }
    TCPSocket.open(ADDRESS, port) { |client| client.write 'by cat'; client.close_write; same 'by cat', client.read }
  },
  udp: lambda {
    own = UDPSocket.new
    own.bind(ADDRESS, 0)
    other = UDPSocket.new
    other.connect(ADDRESS, own.addr[1])
    20.times do |number|
      other.send "datagram #{number}", 0
      text, from = own.recvfrom(100)
      same "datagram #{number}", text
      own.send 'answer', 0, from[3], from[1]
      same 'answer', other.recv(100)
    end
  },
  http: lambda {
    port = child("require 'webrick'; s = WEBrick::HTTPServer.new(BindAddress: ARGV[0], Port: 0, AccessLog: [], " \
                 "Logger: WEBrick::Log.new(File::NULL)); s.mount_proc('/') { |q, a| a.body = q.path + q.body.to_s }; " \
                 "$stdout.puts s.listeners[0].addr[1]; $stdout.flush; s.start")
    Net::HTTP.start(ADDRESS, port) { |http| 30.times { |number| same "/#{number}", http.get("/#{number}").body } }
    same "/#{'x' * 100_000}", Net::HTTP.post(URI("http://#{ADDRESS}:#{port}/"), 'x' * 100_000).body
    20.times { |number| same "/#{number}", Net::HTTP.get(ADDRESS, "/#{number}", port) }
  },
  drb: lambda {
    port = child("require 'drb'; DRb.start_service(\"druby://\#{ARGV[0]}:0\", { 'one' => 1 }); " \
                 "$stdout.puts DRb.uri[/\\d+$/]; $stdout.flush; DRb.thread.join")
    DRb.start_service("druby://#{ADDRESS}:0")
    remote = DRbObject.new_with_uri("druby://#{ADDRESS}:#{port}")
    200.times { |number| remote[number] = 'x' * number; same number, remote[number].size }
    same 1, remote['one']
    # The server calls back.
    same 201, remote.each_pair.count
    seen = []
    remote.each_key { |key| seen << key }
    same 201, seen.size
  },
  tls: lambda {
    key = OpenSSL::PKey::RSA.new(2048)
    name = OpenSSL::X509::Name.parse('/CN=t')
    cert = OpenSSL::X509::Certificate.new
    cert.subject, cert.issuer, cert.public_key, cert.serial = name, name, key.public_key, 1
    cert.not_before, cert.not_after = Time.now, Time.now + 1000
    cert.sign(key, 'SHA256')
    context = OpenSSL::SSL::SSLContext.new
    context.cert, context.key = cert, key
    port = server do |peer|
      secure = OpenSSL::SSL::SSLSocket.new(peer, context).accept
      secure.write secure.read(300_000)
      secure.close
    end
    secure = OpenSSL::SSL::SSLSocket.new(TCPSocket.new(ADDRESS, port)).connect
    data = Random.bytes(300_000)
    Thread.new { secure.write data }
    same data, secure.read(300_000)
  }
}.freeze

THINGS.fetch(ARGV[1].to_sym).call
exit! 0
