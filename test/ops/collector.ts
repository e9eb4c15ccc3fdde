import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { type Fields, fieldsOf, hexIn, messagesIn, numberIn, textIn } from './protobuf.ts';

type Attributes = Readonly<Record<string, string | number | boolean>>;

/** One span as it was exported. */
export interface Exported {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty at the root of a trace. */
  readonly parentId: string;
  /** 1 internal, 2 server, 3 client, 5 consumer. */
  readonly kind: number;
  readonly attributes: Attributes;
  readonly failed: boolean;
  readonly resource: Attributes;
}

/** A status, or no answer at all. */
export type Answer = number | 'hanging';

/** A collector on this machine, which reads what a real one would. It gives its last answer again and again. */
export async function startCollector(answers: readonly Answer[] = [200]) {
  const spans: Exported[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    headers.push(request.headers);
    const body = await buffer(request);
    bodies.push(body);
    const answer = answers[headers.length - 1] ?? answers.at(-1) ?? 200;
    if (answer === 'hanging') return;
    if (answer === 200 && request.url === '/v1/traces') spans.push(...spansIn(body));
    response.writeHead(answer).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    // A server that listens on TCP has an address of this kind.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    /** Everything as it was on the wire. */
    raw: () => Buffer.concat(bodies).toString('latin1'),
    named: (name: string) => spans.filter((span) => span.name === name),
  };
}

function spansIn(body: Buffer): readonly Exported[] {
  return messagesIn(fieldsOf(body), 1).flatMap((group) => {
    const resource = attributesIn(messagesIn(group, 1)[0], 1);
    const spans = messagesIn(group, 2).flatMap((scope) => messagesIn(scope, 2));
    return spans.map((span) => exportedOf(span, resource));
  });
}

function exportedOf(span: Fields, resource: Attributes): Exported {
  return {
    name: textIn(span, 5),
    traceId: hexIn(span, 1),
    spanId: hexIn(span, 2),
    parentId: hexIn(span, 4),
    kind: numberIn(span, 6),
    attributes: attributesIn(span, 9),
    failed: messagesIn(span, 15).some((status) => numberIn(status, 3) === 2),
    resource,
  };
}

function attributesIn(fields: Fields | undefined, number: number): Attributes {
  const pairs = fields ? messagesIn(fields, number) : [];
  return Object.fromEntries(
    pairs.map((pair) => [textIn(pair, 1), anyIn(messagesIn(pair, 2)[0] ?? new Map())]),
  );
}

function anyIn(value: Fields): string | number | boolean {
  if (value.has(1)) return textIn(value, 1);
  if (value.has(2)) return numberIn(value, 2) === 1;
  return numberIn(value, 3);
}
