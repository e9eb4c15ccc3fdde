import { createServer, request as send } from 'node:http';
import { setImmediate as immediate } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import {
  CI_CLAIMS,
  GITHUB,
  KEY_SET,
  PERSON_CLAIMS,
  signedHeaders,
  type TokenParts,
  tokenOf,
  URL_OF_DOOR,
} from '../agents/issuer.ts';
import type { EditYaml } from './config.ts';
import { listening } from './listening.ts';
import { SIGNING_SECRET } from './simulators.ts';
import { startTestSandbox, type TestSandboxOptions } from './test-sandbox.ts';

/** The address that clients type; the bot of a test listens on another one. */
const HOST = new URL(URL_OF_DOOR).host;

/** An issuer of tokens on this machine. */
export async function startIssuer() {
  const server = createServer((request, response) => {
    const metadata = { issuer, jwks_uri: `${issuer}/keys` };
    const text = request.url === '/keys' ? KEY_SET : JSON.stringify(metadata);
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  });
  const issuer = await listening(server);
  return issuer;
}

/** The tools of the agents of people. */
export const PEOPLE_TOOLS = [
  ...['service list', 'service show', 'service start', 'service stop', 'service scale', 'cost'],
];

/** The file of the sandbox with Slackbot, a workflow of GitHub and an assistant of people; every rule with approvals admits them. */
export function withAgents(issuer: string, url = URL_OF_DOOR): EditYaml {
  return (file: Readonly<Record<string, unknown>>) => ({
    ...file,
    policy: (file.policy as readonly Record<string, unknown>[]).map((rule) =>
      rule.approvals ? { ...rule, agents: 'allowed' } : rule,
    ),
    agents: {
      url,
      allow: [
        { name: 'slackbot', for: 'people', by: 'slack', tools: PEOPLE_TOOLS },
        {
          name: 'ci',
          for: 'itself',
          by: {
            issuer: GITHUB,
            jwks: `${issuer}/keys`,
            claims: { repository_id: '74', repository_owner_id: '9', ref: 'refs/heads/main' },
          },
          roles: ['viewer', 'operator'],
          tools: ['service list', 'service scale', 'service stop', 'service start'],
        },
        {
          name: 'assistant',
          for: 'people',
          by: { issuer, claims: { azp: 'assistant' }, person: 'slack_user_id' },
          tools: PEOPLE_TOOLS,
        },
      ],
    },
  });
}

/** The file of the door with other agents. */
export function withOtherAgents(issuer: string, edit: (all: readonly Agent[]) => readonly Agent[]) {
  const all = withAgents(issuer);
  return ((file) => {
    const { agents, ...rest } = all(file) as Record<string, never>;
    const { allow, ...door } = agents as unknown as { allow: readonly Agent[] };
    return { ...rest, agents: { ...door, allow: edit(allow) } };
  }) satisfies EditYaml;
}

interface Agent extends Readonly<Record<string, unknown>> {
  readonly name: string;
}

/** Tokens of the two agents with tokens. */
export function tokensOf(issuer: string, now: () => Date) {
  return {
    ci: (more: Partial<TokenParts> = {}) =>
      tokenOf({ claims: CI_CLAIMS, issuer: GITHUB, now: now(), ...more }),
    person: (user: string, more: Partial<TokenParts> = {}) => {
      const claims = { ...PERSON_CLAIMS, slack_user_id: user };
      return tokenOf({ claims, issuer, now: now(), ...more });
    },
  };
}

/** The sandbox with agents, and tokens of two of them. A wait looks again at once, and lets everything else run in between. */
export async function startDoor(options: TestSandboxOptions = {}) {
  const issuer = await startIssuer();
  let looks = 0;
  const sleep = () => {
    looks += 1;
    return immediate();
  };
  const sandbox = await startTestSandbox({ yaml: withAgents(issuer), sleep, ...options });
  const tokens = tokensOf(issuer, () => sandbox.clock.now);
  return { ...sandbox, looks: () => looks, issuer, tokens };
}

export interface DoorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

interface DoorRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** One HTTP request to the bot at `url`, for the host that clients type unless `headers` name another one. */
export function atDoor(url: string, request: DoorRequest): Promise<DoorReply> {
  const { method = 'POST', path = '/mcp', headers = {}, body, signal } = request;
  const usual = {
    host: HOST,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  return new Promise((resolve, reject) => {
    // Node gives the methods that usually have no body none of the headers of a body.
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const all = { ...usual, ...length, ...headers };
    const options = { method, headers: all, ...(signal && { signal }) };
    const sent = send(`${url}${path}`, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** A message of the modern era, with the headers that it needs. */
export function modernCall(name: string, args: object, more: object = {}) {
  const version = '2026-07-28';
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
    ...more,
  };
  const params = { name, arguments: args, _meta: meta };
  return {
    headers: { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': name },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  };
}

/** A call as Slack signs it. */
export function slackCall(now: Date, name: string, args: object, user: object) {
  const { headers, body } = modernCall(name, args, { slack: user });
  return { headers: { ...headers, ...signedHeaders(body, now, { secret: SIGNING_SECRET }) }, body };
}

/** The result of a tool, in the body of a reply. */
export function resultIn({ text }: DoorReply): Readonly<Record<string, unknown>> {
  // The legacy era answers as an event stream.
  const json = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return JSON.parse(json).result?.structuredContent ?? {};
}

/** The SDK's client of an agent, with a token for each request. */
export async function connectClient(
  url: string,
  token: () => Promise<string>,
  mode: 'legacy' | 'auto',
): Promise<Client> {
  const client = new Client({ name: 'probe', version: '1' }, { versionNegotiation: { mode } });
  const through = async (address: string | URL, init: RequestInit = {}) => {
    const headers = {
      ...Object.fromEntries(new Headers(init.headers)),
      authorization: `Bearer ${await token()}`,
    };
    const { method = 'GET', body } = init;
    const path = new URL(address).pathname;
    const sent = { method, path, headers, ...(typeof body === 'string' && { body }) };
    const { status, headers: given, text } = await atDoor(url, sent);
    const content = String(given['content-type'] ?? 'text/plain');
    const isEmpty = [202, 204, 304].includes(status);
    return new Response(isEmpty ? null : text, { status, headers: { 'content-type': content } });
  };
  const transport = new StreamableHTTPClientTransport(new URL(URL_OF_DOOR), { fetch: through });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

/** Calls tools as an agent, and returns the facts of the results. */
export async function callingTools(url: string, token: () => Promise<string>) {
  const client = await connectClient(url, token, 'auto');
  return async (name: string, args: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: args })).structuredContent as Record<string, never>;
}
