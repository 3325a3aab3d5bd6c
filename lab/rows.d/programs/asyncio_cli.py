# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Echo client on asyncio streams: ten connections at once, each wants its own bytes back."""

import asyncio

SIZE = 100000


async def talk(number):
    block = bytes((n + number) % 251 for n in range(SIZE))
    reader, writer = await asyncio.open_connection("10.9.0.1", 9301)

    async def send():
        writer.write(block)
        await writer.drain()
        writer.write_eof()

    sender = asyncio.create_task(send())
    back = await reader.read(-1)
    await sender
    writer.close()
    assert back == block, f"{SIZE} bytes came back as {len(back)}"


async def main():
    await asyncio.wait_for(asyncio.gather(*(talk(number) for number in range(10))), 60)
    print("ten connections")


asyncio.run(main())
