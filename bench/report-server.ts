import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reportBody } from './report-body.ts';

// A server of its own process, so that only the reader is measured.
const body = Buffer.from(reportBody(Number(process.env.SERVICES)));
const server = createServer((_, response) =>
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    .end(body),
);
server.listen(0, '127.0.0.1', () => {
  // A TCP server has an address of this type.
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `http://127.0.0.1:${port}`, bytes: body.length });
});
