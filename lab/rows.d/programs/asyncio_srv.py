# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Echo server on asyncio streams."""

import asyncio


async def echo(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
    await writer.wait_closed()


async def main():
    server = await asyncio.start_server(echo, "10.9.0.1", 9301, backlog=64)
    await server.serve_forever()


asyncio.run(main())
