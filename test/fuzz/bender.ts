import { createServer, type IncomingMessage } from 'node:http';
import type { RandomSource } from '../../sandbox/api/random.ts';
import { listening } from '../harness/listening.ts';
import { bend, deep, pick, tear } from './mutate.ts';

const STATUSES = [
  200, 200, 200, 200, 200, 201, 204, 301, 307, 400, 401, 404, 409, 422, 429, 500, 503,
];
const TYPES = ['application/json', 'text/html', 'text/plain', '', 'application/json; charset=x'];

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** A proxy before an API that modifies the answers and counts them. */
export function openBender(chance: RandomSource) {
  const bent = { count: 0 };
  async function through(url: string): Promise<string> {
    const server = createServer(async (request, reply) => {
      const answer = await askedOf(url, request);
      const { status, type, body } = chance() < 0.1 ? answer : bentAnswer(chance, answer);
      bent.count += 1;
      const location = status === 301 || status === 307 ? { location: `${url}/elsewhere` } : {};
      reply.writeHead(status, { ...(type ? { 'content-type': type } : {}), ...location });
      // A few answers are cut off.
      if (chance() < 0.02) return void reply.write(body.slice(0, 40), () => reply.destroy());
      reply.end(status === 204 ? '' : body);
    });
    return listening(server);
  }
  return { through, bent };
}

async function askedOf(url: string, request: IncomingMessage): Promise<Answer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const { method = 'GET', headers } = request;
  const answer = await fetch(`${url}${request.url}`, {
    method,
    headers: {
      authorization: headers.authorization ?? '',
      'content-type': headers['content-type'] ?? 'application/json',
    },
    ...(pieces.length > 0 ? { body: Buffer.concat(pieces) } : {}),
  });
  const type = answer.headers.get('content-type') ?? '';
  return { status: answer.status, type, body: await answer.text() };
}

function bentAnswer(chance: RandomSource, answer: Answer): Answer {
  const roll = chance();
  if (roll < 0.15) return { ...answer, status: pick(chance, STATUSES) };
  if (roll < 0.2) return { ...answer, type: pick(chance, TYPES) };
  if (roll < 0.3) return { ...answer, body: tear(chance, answer.body) };
  if (roll < 0.31) return { ...answer, body: deep(10_000) };
  return { ...answer, body: bentBody(chance, answer.body) };
}

function bentBody(chance: RandomSource, body: string): string {
  try {
    let value: unknown = JSON.parse(body);
    const times = 1 + Math.floor(chance() * 3);
    for (let time = 0; time < times; time += 1) value = bend(chance, value, []);
    return JSON.stringify(value);
  } catch {
    // The body is not JSON, so its text is modified.
    return tear(chance, body);
  }
}
