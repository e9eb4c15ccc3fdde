import { createHmac } from 'node:crypto';
import {
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { agentsSchema } from '../../src/agents/config.ts';
import { parseConfig } from '../../src/base/problem.ts';

export const URL_OF_DOOR = 'https://signalbox.example.com/mcp';
export const GITHUB = 'https://token.actions.githubusercontent.com';
export const LOGIN = 'https://login.example.com/';
export const TEAM = 'T0HOME';
export const SIGNING = 'e0e1e2e3e4e5e6e7e8e9eaebecedeeef';

const keys = await generateKeyPair('RS256', { extractable: true });
const others = await generateKeyPair('RS256', { extractable: true });
const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k1', use: 'sig' };
export const KEY_SET = JSON.stringify({ keys: [jwk] });

/** A header by which a token brings the key that verifies it. */
export const OWN_KEY = { jwk: await exportJWK(others.publicKey), kid: undefined };

/** What the issuers of the tests serve. */
export const DOCUMENTS: Readonly<Record<string, string>> = {
  [`${GITHUB}/.well-known/openid-configuration`]: JSON.stringify({
    issuer: GITHUB,
    jwks_uri: `${GITHUB}/.well-known/jwks`,
  }),
  [`${GITHUB}/.well-known/jwks`]: KEY_SET,
  [`${LOGIN}.well-known/openid-configuration`]: JSON.stringify({
    issuer: LOGIN,
    jwks_uri: 'https://login.example.com/keys',
  }),
  'https://login.example.com/keys': KEY_SET,
};

export const AGENTS = {
  url: URL_OF_DOOR,
  allow: [
    {
      ...{ name: 'slackbot', for: 'people', by: 'slack' },
      tools: ['service list', 'service stop', 'cost'],
    },
    {
      name: 'ci',
      for: 'itself',
      by: {
        issuer: GITHUB,
        claims: { repository_id: '74', repository_owner_id: '9', ref: 'refs/heads/main' },
        events: ['push', 'schedule'],
      },
      roles: ['operator'],
      tools: ['service scale', 'service stop'],
    },
    {
      ...{ name: 'assistant', for: 'people' },
      by: { issuer: LOGIN, claims: { azp: 'assistant' }, person: 'slack_user_id' },
      tools: ['service show', 'service stop'],
    },
    {
      ...{ name: 'typed', for: 'people' },
      by: { issuer: LOGIN, audience: 'typed', person: 'slack_user_id' },
      tools: ['service list'],
    },
  ],
};

export function agentsConfig(content: unknown = AGENTS) {
  const read = parseConfig(agentsSchema(['operator', 'viewer']), content);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
}

export const CI_CLAIMS = {
  sub: 'repo:acme/deploy:ref:refs/heads/main',
  repository_id: '74',
  repository_owner_id: '9',
  ref: 'refs/heads/main',
  event_name: 'push',
};
export const PERSON_CLAIMS = {
  sub: 'ana@example.com',
  azp: 'assistant',
  slack_user_id: 'U0ANA0000',
};

export interface TokenParts {
  readonly claims: JWTPayload;
  readonly issuer: string;
  readonly audience?: string | string[];
  readonly now: Date;
  /** Seconds before `now`. */
  readonly age?: number;
  readonly typ?: string;
  readonly key?: 'right' | 'wrong' | 'none' | 'shared' | 'RS512';
  /** Seconds from its time to its end. */
  readonly lasts?: number;
  readonly drop?: string;
  /** More of the protected header. */
  readonly header?: Readonly<Record<string, unknown>>;
}

/** A token of an issuer of the tests, right in everything that is not given. */
export async function tokenOf(given: TokenParts): Promise<string> {
  const { claims, issuer: iss, audience: aud = URL_OF_DOOR, now, age = 0, key = 'right' } = given;
  const iat = Math.floor(now.getTime() / 1_000) - age;
  const payload: JWTPayload = { ...claims, iss, aud, iat, exp: iat + (given.lasts ?? 600) };
  if (given.drop) delete payload[given.drop];
  if (key === 'none') return new UnsecuredJWT(payload).encode();
  const header = { kid: 'k1', ...(given.typ && { typ: given.typ }), ...given.header };
  if (key === 'shared') {
    const secret = new TextEncoder().encode(KEY_SET);
    return new SignJWT(payload).setProtectedHeader({ ...header, alg: 'HS256' }).sign(secret);
  }
  if (key === 'RS512') {
    const own = await importJWK({ ...(await exportJWK(keys.privateKey)) }, 'RS512');
    return new SignJWT(payload).setProtectedHeader({ ...header, alg: 'RS512' }).sign(own);
  }
  const pair = key === 'right' ? keys : others;
  return new SignJWT(payload).setProtectedHeader({ ...header, alg: 'RS256' }).sign(pair.privateKey);
}

/** The headers that Slack sends with a body. */
export function signedHeaders(
  raw: string,
  now: Date,
  more: { age?: number; secret?: string } = {},
) {
  const stamp = String(Math.floor(now.getTime() / 1_000) - (more.age ?? 0));
  const mac = createHmac('sha256', more.secret ?? SIGNING).update(`v0:${stamp}:${raw}`);
  return { 'x-slack-request-timestamp': stamp, 'x-slack-signature': `v0=${mac.digest('hex')}` };
}
