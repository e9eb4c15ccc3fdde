// Who calls: the signature of Slack, or the token of an issuer. The caller learns one sentence, the log the cause: what
// another agent has to prove stays hidden.

import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  type JWTHeaderParameters,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { z } from 'zod';
import type { Secret } from '../base/errors.ts';
import { cleanText } from '../base/text.ts';
import type { UserId } from '../domain/change.ts';
import type { AgentSettings, AgentsConfig, TokenSettings } from './config.ts';

/** Whose rights count. */
export interface Principal {
  readonly agent: AgentSettings;
  /** The person for whom it acts; null: for itself. */
  readonly person: UserId | null;
  /** What the log keeps of the credential; never the credential. */
  readonly subject: string;
  /** Names this delivery: a copy of it has the same. Null: the credential may be used for several calls. */
  readonly delivery: { readonly key: string; readonly at: Date } | null;
}

export type Identification =
  /** Without a principal: a client of Slack that lists the tools before a person asks. It may list them only. */
  | { readonly ok: true; readonly agent: AgentSettings; readonly principal: Principal | null }
  | {
      readonly ok: false;
      readonly status: 401 | 403 | 503;
      /** For the caller. */
      readonly why: string;
      /** For the log. */
      readonly cause: string;
    };

export interface Credentials {
  readonly header: (name: string) => string | null;
  readonly raw: Buffer;
  /** `params._meta.slack`, which means something under the signature of Slack only. */
  readonly slack: unknown;
}

export interface IdentityOptions {
  readonly config: AgentsConfig;
  readonly signingSecret: Secret | null;
  readonly teamId: string;
  readonly now: () => Date;
  /** Reads a document of an issuer. */
  readonly read: (
    url: string,
    signal: AbortSignal,
  ) => Promise<{ readonly status: number; readonly text: string }>;
}

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const TOKEN_AGE_S = 3_600;
const CLOCK_TOLERANCE_S = 30;
const KEYS_WITHIN_MS = 5_000;
const SIGNED_WITHIN_S = 300;
/** The keys, not the token, are the problem. */
const UNREADABLE = ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'];
const SlackMeta = z.object({ user_id: z.string().optional(), team_id: z.string().optional() });
const SLACK_ID = /^[UW][A-Z0-9]{5,20}$/;

const NO_CREDENTIAL = 'Send a bearer token, or the signature of Slack.';
const NOT_ACCEPTED = 'This credential is not accepted.';

function refuse(status: 401 | 403 | 503, cause: string, why = NOT_ACCEPTED): Identification {
  return { ok: false, status, why, cause };
}

/** Identifies callers by the agents of the configuration. The keys of issuers are read when the first token arrives. */
export function createIdentifier(options: IdentityOptions) {
  const keySets = new Map<string, JWTVerifyGetKey>();
  const keysOf = (token: TokenSettings): JWTVerifyGetKey => {
    const id = token.jwks ?? token.issuer;
    const keys = keySets.get(id) ?? openKeys(token, options);
    keySets.set(id, keys);
    return keys;
  };
  return async (credentials: Credentials): Promise<Identification> => {
    const bearer = credentials.header('authorization');
    const signature = credentials.header('x-slack-signature');
    // It would be unclear which one counts.
    if (bearer !== null && signature !== null) return refuse(401, 'two credentials');
    if (signature !== null) return bySlack(options, credentials, signature);
    const [, token] = /^Bearer +([\w.-]+)$/i.exec(bearer ?? '') ?? [];
    if (token === undefined) return refuse(401, 'no credential', NO_CREDENTIAL);
    return byToken(options, token, keysOf);
  };
}

function bySlack(
  { config, signingSecret, teamId, now }: IdentityOptions,
  { header, raw, slack }: Credentials,
  signature: string,
): Identification {
  const agent = config.allow.find(({ by }) => by === null);
  if (!agent || signingSecret === null) return refuse(401, 'no agent is Slackbot');
  const stamp = header('x-slack-request-timestamp') ?? '';
  const at = Number(stamp);
  const isCurrent =
    /^\d{1,12}$/.test(stamp) && Math.abs(now().getTime() / 1_000 - at) <= SIGNED_WITHIN_S;
  if (!isCurrent) return refuse(401, 'the timestamp of Slack is not current');
  const mac = createHmac('sha256', signingSecret.reveal()).update(`v0:${stamp}:`).update(raw);
  const expected = Buffer.from(`v0=${mac.digest('hex')}`);
  const given = Buffer.from(signature);
  if (expected.length !== given.length || !timingSafeEqual(expected, given)) {
    return refuse(401, 'the signature of Slack is wrong');
  }
  const meta = SlackMeta.safeParse(slack ?? {});
  const { user_id: user, team_id: team } = meta.data ?? {};
  if (!meta.success) return refuse(401, 'the person of Slack is not readable');
  if (user === undefined) return { ok: true, agent, principal: null };
  if (!SLACK_ID.test(user)) return refuse(401, 'the person of Slack is not readable');
  if (team !== teamId) return refuse(403, 'another workspace', 'This is another workspace.');
  const delivery = { key: hash('sha256', signature), at: new Date(at * 1_000) };
  const person = user as UserId;
  return { ok: true, agent, principal: { agent, person, subject: 'slack', delivery } };
}

async function byToken(
  { config, now }: IdentityOptions,
  token: string,
  keysOf: (settings: TokenSettings) => JWTVerifyGetKey,
): Promise<Identification> {
  const issuer = claimedIssuer(token);
  const candidates = config.allow.flatMap((agent) =>
    agent.by?.issuer === issuer ? [{ agent, by: agent.by }] : [],
  );
  const causes: string[] = [];
  for (const { agent, by } of candidates) {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keysOf(by), {
        issuer: by.issuer,
        audience: by.audience,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'iat', 'sub'],
        maxTokenAge: TOKEN_AGE_S,
        clockTolerance: CLOCK_TOLERANCE_S,
        currentDate: now(),
      });
      const problem = claimProblem(payload, by) ?? kindProblem(agent, payload, protectedHeader);
      const person = by.person === null ? null : payload[by.person];
      if (problem !== null) causes.push(`${agent.name}: ${problem}`);
      else if (agent.for === 'itself') return accepted(agent, payload, null);
      else if (typeof person === 'string' && SLACK_ID.test(person)) {
        return accepted(agent, payload, person as UserId);
      } else causes.push(`${agent.name}: the claim ${by.person} names no person of Slack`);
    } catch (error) {
      if (!(error instanceof errors.JOSEError) || UNREADABLE.includes(error.code)) {
        const cause = error instanceof Error ? error.message : String(error);
        const why = 'The keys of the issuer cannot be read. Try again in a minute.';
        return refuse(503, `${agent.name}: ${cause}`, why);
      }
      causes.push(`${agent.name}: ${error.code}: ${error.message}`);
    }
  }
  return refuse(401, causes.join('; ') || 'no agent has this issuer');
}

function accepted(
  agent: AgentSettings,
  { sub = '' }: JWTPayload,
  person: UserId | null,
): Identification {
  const principal = { agent, person, subject: cleanText(sub), delivery: null };
  return { ok: true, agent, principal };
}

function claimProblem(payload: JWTPayload, { claims, events }: TokenSettings): string | null {
  const text = (name: string) => {
    const value = payload[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
  };
  const wrong = Object.entries(claims).find(([name, value]) => text(name) !== value);
  if (wrong) return `the claim ${wrong[0]} is not ${wrong[1]}`;
  const event = text('event_name');
  if (events && !(event !== null && events.includes(event))) {
    return `the event ${cleanText(event ?? 'none', 40)} is not allowed`;
  }
  return null;
}

/** The ID token of another app is signed by the same issuer, and is no access token. */
function kindProblem(
  { for: whom, by }: AgentSettings,
  payload: JWTPayload,
  { typ }: JWTHeaderParameters,
): string | null {
  if (whom === 'itself') return null;
  if (payload.nonce !== undefined) return 'it is an ID token';
  const isPinned = by?.claims.azp !== undefined || by?.claims.client_id !== undefined;
  const isAccess = /^(application\/)?at\+jwt$/i.test(typ ?? '');
  return isPinned || isAccess
    ? null
    : 'it has not the type at+jwt, and no azp or client_id is pinned';
}

function claimedIssuer(token: string): string | null {
  try {
    return decodeJwt(token).iss ?? null;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return null;
    throw error;
  }
}

const Metadata = z.object({ issuer: z.string(), jwks_uri: z.string() });

/** The keys of an issuer, which jose keeps for ten minutes. A failure to find them is not kept. */
function openKeys({ issuer, jwks }: TokenSettings, { read }: IdentityOptions): JWTVerifyGetKey {
  const open = (url: string) =>
    createRemoteJWKSet(new URL(url), {
      timeoutDuration: KEYS_WITHIN_MS,
      [customFetch]: async (address, { signal }) => {
        const { status, text } = await read(address, signal);
        return new Response(text, { status });
      },
    });
  if (jwks !== null) return open(jwks);
  let found: Promise<ReturnType<typeof open>> | null = null;
  const forget = (error: unknown) => {
    found = null;
    throw error;
  };
  return async (header, token) => {
    // Anyone can send a token that names the issuer: all that come meanwhile share one reading.
    found ??= keysAddress(issuer, read).then(open).catch(forget);
    return (await found)(header, token);
  };
}

const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).min(1) });

/** How many keys an issuer has; throws where they cannot be read. For the doctor. */
export async function countKeys(
  { issuer, jwks }: TokenSettings,
  read: IdentityOptions['read'],
): Promise<number> {
  const url = jwks ?? (await keysAddress(issuer, read));
  const { status, text } = await read(url, AbortSignal.timeout(KEYS_WITHIN_MS));
  if (status !== 200) throw new Error(`${url} answered status ${status}`);
  return KeySet.parse(JSON.parse(text)).keys.length;
}

/** Reads where the keys of an issuer are. Throws where its metadata cannot be read, or names another issuer. */
async function keysAddress(issuer: string, read: IdentityOptions['read']): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { status, text } = await read(url, AbortSignal.timeout(KEYS_WITHIN_MS));
  if (status !== 200) throw new Error(`${url} answered status ${status}`);
  const metadata = Metadata.parse(JSON.parse(text));
  if (metadata.issuer !== issuer) throw new Error(`${url} names the issuer ${metadata.issuer}`);
  const { protocol } = new URL(issuer);
  // Without TLS the keys could be replaced on the way.
  if (!metadata.jwks_uri.startsWith(protocol)) throw new Error(`${url} has keys without TLS`);
  return metadata.jwks_uri;
}
