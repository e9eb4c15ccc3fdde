import express, { type Request, type Response, type Router } from 'express';
import type { Json } from '../../protocol.ts';
import { jsonOr } from '../json.ts';
import type { SlackState } from '../state.ts';
import { appMethods } from './app.ts';
import { chatMethods } from './chat.ts';
import { conversationMethods } from './conversations.ts';
import { nextFault, type SlackFault } from './faults.ts';
import { fileMethods } from './files.ts';
import { type Method, type Methods, missingScope, refuse, type SlackReply } from './method.ts';
import type { RateLimits } from './rate-limits.ts';
import { userMethods } from './users.ts';
import { viewMethods } from './views.ts';

const methods: Methods = {
  ...appMethods,
  ...chatMethods,
  ...conversationMethods,
  ...fileMethods,
  ...userMethods,
  ...viewMethods,
};

/** How one call is answered: HTTP status and body, or no answer at all. */
interface Outcome {
  readonly status: number | null;
  readonly reply: SlackReply | null;
  readonly retryAfterSeconds?: number;
  readonly cut?: boolean;
}

export function webApi(slack: SlackState, limits: RateLimits): Router {
  const router = express.Router();
  router.use(express.urlencoded({ extended: false, limit: '5mb' }), express.json({ limit: '5mb' }));
  router.all('/:method', (request, response) => {
    const name = String(request.params.method);
    const args = { ...jsonOr(request.query), ...jsonOr(request.body) };
    const { token, ...shown } = args;
    const outcome = outcomeOf(slack, limits, { name, args, token: tokenOf(request, token) });
    slack.calls.push({
      method: name,
      at: slack.now(),
      args: shown,
      status: outcome.status,
      reply: outcome.reply,
    });
    answer(slack, response, { name, outcome });
  });
  return router;
}

interface Asked {
  readonly name: string;
  readonly args: Json;
  readonly token: string;
}

function tokenOf(request: Request, inBody: unknown): string {
  const [, bearer] = request.headers.authorization?.match(/^Bearer (.+)$/) ?? [];
  return bearer ?? (typeof inBody === 'string' ? inBody : '');
}

function outcomeOf(slack: SlackState, limits: RateLimits, asked: Asked): Outcome {
  const method = Object.hasOwn(methods, asked.name) ? methods[asked.name] : undefined;
  if (!method) return told(refuse('unknown_method', { req_method: asked.name }));
  const fault = nextFault(slack.faults, asked.name);
  if (fault && fault.how !== 'reply-lost') return faulty(fault);
  const wait = limits.secondsToWait(asked.name, method.perMinute, asked.args);
  if (wait > 0) return limited(wait);
  const reply = notAllowed(slack, method, asked.token) ?? method.run(slack, asked.args);
  return fault ? { status: null, reply, cut: true } : told(reply);
}

function notAllowed(slack: SlackState, method: Method, token: string): SlackReply | null {
  if (method.token === 'none') return null;
  if (token === '') return refuse('not_authed');
  const { bot, app } = slack.tokens;
  if (token !== bot && token !== app) return refuse('invalid_auth');
  if (token !== slack.tokens[method.token]) return refuse('not_allowed_token_type');
  const { scopes } = method;
  if (scopes.length === 0 || scopes.some((one) => slack.manifest.scopes.includes(one))) return null;
  return missingScope(slack, scopes.join(','));
}

function faulty({ how, retryAfterSeconds }: SlackFault): Outcome {
  if (how === 'rate-limited') return limited(retryAfterSeconds ?? 1);
  if (how === 'server-error') return { status: 500, reply: refuse('internal_error') };
  if (how === 'html') return { status: 200, reply: null };
  if (how === 'no-reply' || how === 'reply-lost') return { status: null, reply: null };
  return told(refuse(how.error));
}

function told(reply: SlackReply): Outcome {
  return { status: 200, reply };
}

function limited(seconds: number): Outcome {
  return { status: 429, reply: refuse('ratelimited'), retryAfterSeconds: seconds };
}

interface Answered {
  readonly name: string;
  readonly outcome: Outcome;
}

function answer(slack: SlackState, response: Response, { name, outcome }: Answered): void {
  if (outcome.cut) {
    response.destroy();
    return;
  }
  // A call without any answer stays open until the caller gives up or the stand-in stops.
  if (outcome.status === null) return;
  response.status(outcome.status);
  response.set('x-oauth-scopes', slack.manifest.scopes.join(','));
  response.set('x-accepted-oauth-scopes', (methods[name]?.scopes ?? []).join(','));
  if (outcome.retryAfterSeconds) response.set('retry-after', String(outcome.retryAfterSeconds));
  if (outcome.reply) response.json(outcome.reply);
  else response.type('html').send('<!doctype html><title>Bad gateway</title>');
}
