import type { ServerResponse } from 'node:http';
import type { Fault } from '../faults/fault.ts';
import { encode, type Reply } from './reply.ts';

/** Sends the reply, or as much of it as the fault lets through. */
export function deliver(response: ServerResponse, reply: Reply, fault: Fault | null): void {
  const { socket } = response;
  if (socket === null || socket.destroyed) return;
  if (fault?.connection === 'hang-after') return;
  if (fault?.connection === 'close-after') return void socket.destroy();
  if (fault?.connection === 'reset-after') return void socket.resetAndDestroy();

  const plain = encode(reply);
  const { headers, bytes } = fault?.encoded?.(plain) ?? plain;
  response.writeHead(reply.status, { ...headers, 'content-length': bytes.length });
  if (fault?.connection !== 'cut') return void response.end(bytes);
  response.write(bytes.subarray(0, bytes.length >> 1), () => socket.destroy());
}
