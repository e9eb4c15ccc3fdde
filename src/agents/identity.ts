// Who calls: the signature of Slack, or the token of an issuer. The caller learns one sentence, the log the cause: what
// another agent has to prove stays hidden.

import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  type JWTPayload,
  jwtVerify,
} from 'jose';
import { z } from 'zod';
import { cached, sharedRead } from '../base/cache.ts';
import type { Secret } from '../base/errors.ts';
import type { getDocument } from '../base/http.ts';
import { cleanText } from '../base/text.ts';
import type { UserId } from '../domain/change.ts';
import type { AgentCaller } from '../workflow/index.ts';
import { type AgentSettings, type AgentsConfig, hasTokens, type TokenAgent } from './config.ts';

export interface Identified {
  readonly agent: AgentSettings;
  /** Null: a client of Slack that lists the tools before a person asks. It may list them only. */
  readonly caller: AgentCaller | null;
  /** Names this delivery: a copy of it has the same. Null: the credential may be used for several calls. */
  readonly delivery: { readonly key: string; readonly at: Date } | null;
}

export interface Unidentified {
  readonly status: 401 | 403 | 503;
  /** For the caller. */
  readonly why: string;
  /** For the log. */
  readonly cause: string;
}

export interface Credentials {
  readonly header: (name: string) => string | null;
  readonly raw: Buffer;
  /** `params._meta.slack`, which means something under the signature of Slack only. */
  readonly slack: unknown;
}

export interface IdentityOptions {
  readonly config: AgentsConfig;
  readonly signingSecret: Secret | null;
  readonly isForeignTeam: (team: string | undefined) => boolean;
  readonly now: () => Date;
  /** Reads a document of an issuer. */
  readonly read: Read;
}
type Read = typeof getDocument;

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const TOKEN_AGE_S = 3_600;
const CLOCK_TOLERANCE_S = 30;
const KEYS_WITHIN_MS = 5_000;
const SIGNED_WITHIN_S = 300;
/** The keys, not the token, are the problem. */
const UNREADABLE = ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'];
const SLACK_ID = /^[UW][A-Z0-9]{5,20}$/;
const SlackMeta = z
  .object({ user_id: z.string().regex(SLACK_ID).optional(), team_id: z.string().optional() })
  .nullish();

const NOT_ACCEPTED = 'This credential is not accepted.';

function refuse(status: 401 | 403 | 503, cause: string, why = NOT_ACCEPTED): Unidentified {
  return { status, why, cause };
}

/** Identifies callers by the agents of the configuration. The keys of issuers are read when the first token arrives. */
export function createIdentifier(options: IdentityOptions) {
  const keysOf = keySets(options.read);
  return async (credentials: Credentials): Promise<Identified | Unidentified> => {
    const bearer = credentials.header('authorization');
    const signature = credentials.header('x-slack-signature');
    // It would be unclear which one counts.
    if (bearer !== null && signature !== null) return refuse(401, 'two credentials');
    if (signature !== null) return bySlack(options, credentials, signature);
    const [, token] = /^Bearer +([\w.-]+)$/i.exec(bearer ?? '') ?? [];
    return token === undefined
      ? refuse(401, 'no credential', 'Send a bearer token, or the signature of Slack.')
      : byToken(options, token, keysOf);
  };
}

function bySlack(
  { config, signingSecret, isForeignTeam, now }: IdentityOptions,
  { header, raw, slack }: Credentials,
  signature: string,
): Identified | Unidentified {
  const agent = config.allow.find(({ by }) => by === null);
  if (!agent || signingSecret === null) return refuse(401, 'no agent is Slackbot');
  const stamp = header('x-slack-request-timestamp') ?? '';
  const age = Math.abs(now().getTime() / 1_000 - Number(stamp));
  if (!/^\d{1,12}$/.test(stamp) || age > SIGNED_WITHIN_S) {
    return refuse(401, 'the timestamp of Slack is not current');
  }
  const mac = createHmac('sha256', signingSecret.reveal()).update(`v0:${stamp}:`).update(raw);
  if (!isSame(signature, `v0=${mac.digest('hex')}`)) {
    return refuse(401, 'the signature of Slack is wrong');
  }
  const meta = SlackMeta.safeParse(slack);
  if (!meta.success) return refuse(401, 'the person of Slack is not readable');
  const { user_id: user, team_id: team } = meta.data ?? {};
  if (user === undefined) return { agent, caller: null, delivery: null };
  if (isForeignTeam(team)) return refuse(403, 'another workspace', 'This is another workspace.');
  const delivery = { key: hash('sha256', signature), at: new Date(Number(stamp) * 1_000) };
  return { agent, caller: callerOf(agent, 'slack', user), delivery };
}

/** `person`: an id of Slack, or null. */
function callerOf({ name, limits }: AgentSettings, sub = '', person: unknown): AgentCaller {
  return { agent: name, limits, subject: cleanText(sub), person: person as UserId | null };
}

/** Compares in a time that does not depend on what was given. */
export function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

async function byToken(
  { config, now }: IdentityOptions,
  token: string,
  keysOf: ReturnType<typeof keySets>,
): Promise<Identified | Unidentified> {
  const issuer = claimedIssuer(token);
  const causes: string[] = [];
  for (const agent of config.allow.filter(hasTokens).filter(({ by }) => by.issuer === issuer)) {
    const isPinned = agent.by.claims.azp !== undefined || agent.by.claims.client_id !== undefined;
    try {
      const { payload } = await jwtVerify(token, await keysOf(agent.by), {
        issuer: agent.by.issuer,
        audience: agent.by.audience ?? config.url,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'iat', 'sub'],
        maxTokenAge: TOKEN_AGE_S,
        clockTolerance: CLOCK_TOLERANCE_S,
        currentDate: now(),
        // The ID token of another app is signed by the same issuer, and is no access token.
        ...(agent.for === 'people' && !isPinned && { typ: 'at+jwt' }),
      });
      const problem = claimProblem(agent, payload);
      if (problem === null) {
        const person = agent.for === 'itself' ? null : payload[agent.by.person];
        return { agent, caller: callerOf(agent, payload.sub, person), delivery: null };
      }
      causes.push(`${agent.name}: ${problem}`);
    } catch (error) {
      if (!(error instanceof errors.JOSEError) || UNREADABLE.includes(error.code)) {
        const why = 'The keys of the issuer cannot be read. Try again in a minute.';
        return refuse(503, `${agent.name}: ${error}`, why);
      }
      causes.push(`${agent.name}: ${error.code}: ${error.message}`);
    }
  }
  return refuse(401, causes.join('; ') || 'no agent has this issuer');
}

function claimProblem(agent: TokenAgent, payload: JWTPayload): string | null {
  const text = (name: string) => {
    const value = payload[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  const wrong = Object.entries(agent.by.claims).find(([name, value]) => text(name) !== value);
  if (wrong) return `the claim ${wrong[0]} is not ${wrong[1]}`;
  if (typeof payload.sub !== 'string') return 'the subject is not a text';
  if (agent.for === 'itself') {
    const { events } = agent.by;
    const isListed = !events || events.some((event) => event === payload.event_name);
    return isListed ? null : `the event ${cleanText(text('event_name'), 40)} is not allowed`;
  }
  if (payload.nonce !== undefined) return 'it is an ID token';
  const { person } = agent.by;
  return SLACK_ID.test(text(person)) ? null : `the claim ${person} names no person of Slack`;
}

/** Undefined for what is no token. */
function claimedIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

/** The keys of issuers, which jose keeps for ten minutes. A failure to find them is not kept. */
function keySets(read: Read) {
  // Anyone can send a token that names the issuer: all that come meanwhile share one reading.
  const addresses = sharedRead((issuer) => keysAddress(issuer, read), Infinity, Date.now);
  const keysAt = cached(100, (url: string) =>
    createRemoteJWKSet(new URL(url), {
      timeoutDuration: KEYS_WITHIN_MS,
      [customFetch]: async (address, { signal }) => {
        const { status, text } = await read(address, signal);
        return new Response(text, { status });
      },
    }),
  );
  return async ({ issuer, jwks }: TokenAgent['by']) =>
    keysAt(jwks ?? (await addresses.read(issuer, { fresh: false })));
}

/** How many keys an issuer has; throws where none can be read. For the doctor. */
export async function countKeys(by: TokenAgent['by'], read: Read): Promise<number> {
  const keys = await keySets(read)(by);
  await keys.reload();
  const count = keys.jwks()?.keys.length ?? 0;
  if (count === 0) throw new Error('The key set is empty');
  return count;
}

/** Reads where the keys of an issuer are. Throws where its metadata cannot be read, or names another issuer. */
async function keysAddress(issuer: string, read: Read): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { status, text } = await read(url, AbortSignal.timeout(KEYS_WITHIN_MS));
  if (status !== 200) throw new Error(`${url} answered status ${status}`);
  // Without TLS the keys could be replaced on the way.
  const protocol = issuer.startsWith('https:') ? /^https$/ : /^https?$/;
  const Metadata = z.object({ issuer: z.literal(issuer), jwks_uri: z.url({ protocol }) });
  return Metadata.parse(JSON.parse(text)).jwks_uri;
}
