/** A simulator's reply before it is encoded. Faults change it; the log stores it. */
export type Reply = JsonReply | (ReplyHead & { readonly kind: 'text'; readonly text: string });

export type JsonReply = ReplyHead & { readonly kind: 'json'; readonly value: unknown };

interface ReplyHead {
  readonly status: number;
  readonly headers: Headers;
}

export type Headers = Readonly<Record<string, string>>;

export interface EncodedBody {
  readonly headers: Headers;
  readonly bytes: Buffer;
}

export function jsonReply(status: number, value: unknown, headers: Headers = {}): JsonReply {
  const type = 'application/json; charset=utf-8';
  return { kind: 'json', status, value, headers: { 'content-type': type, ...headers } };
}

export function textReply(status: number, text: string, headers: Headers = {}): Reply {
  const type = 'text/plain; charset=utf-8';
  return { kind: 'text', status, text, headers: { 'content-type': type, ...headers } };
}

export function htmlReply(status: number, text: string, headers: Headers = {}): Reply {
  const head = `<!DOCTYPE html>\n<html lang="en">\n<head><title>${status}</title></head>`;
  const page = `${head}\n<body>\n<pre>${text}</pre>\n</body>\n</html>\n`;
  return textReply(status, page, { 'content-type': 'text/html; charset=utf-8', ...headers });
}

export function encode(reply: Reply): EncodedBody {
  const text = reply.kind === 'json' ? JSON.stringify(reply.value) : reply.text;
  return { headers: reply.headers, bytes: Buffer.from(text, 'utf8') };
}

export function isSuccess({ status }: Reply): boolean {
  return status >= 200 && status < 300;
}

/** Ends an operation with this reply, without effect. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly reply: Reply;

  constructor(reply: Reply) {
    super(`refused with status ${reply.status}`);
    this.reply = reply;
  }
}
