import express, { type Request, type Response, type Router } from 'express';
import { type Json, record, stringOf } from '../../json.ts';
import type { SlackState } from '../state.ts';
import { type Workspace, workspacesOf } from '../workspace/workspace.ts';
import { appMethods } from './app.ts';
import { chatMethods } from './chat.ts';
import { conversationMethods } from './conversations.ts';
import { type SlackFault, takeFault } from './faults.ts';
import { fileMethods } from './files.ts';
import { type Method, missingScope, Refused, refuse, type SlackReply, text } from './method.ts';
import type { SecondsToWait } from './rate-limits.ts';
import { userMethods } from './users.ts';
import { viewMethods } from './views.ts';

export const METHODS: Readonly<Record<string, Method>> = {
  ...appMethods,
  ...chatMethods,
  ...conversationMethods,
  ...fileMethods,
  ...userMethods,
  ...viewMethods,
};

/** The result of one call: HTTP status and body, or no answer. */
interface CallResult {
  /** The HTTP status; null when the caller gets no answer. */
  readonly status: number | null;
  readonly reply: SlackReply | null;
  readonly retryAfterSeconds?: number;
  readonly disconnect?: boolean;
}

export function webApi(slack: SlackState, secondsToWait: SecondsToWait): Router {
  const router = express.Router();
  router.use(express.urlencoded({ extended: false, limit: '5mb' }), express.json({ limit: '5mb' }));
  router.all('/:method', (request, response) => {
    const name = String(request.params.method);
    const { token, ...args } = { ...record(request.query), ...record(request.body) };
    const result = call(slack, secondsToWait, { name, args, token: tokenOf(request, token) });
    const { status, reply } = result;
    slack.calls.push({ method: name, at: slack.now(), args, status, reply });
    send(slack, response, name, result);
  });
  return router;
}

interface CallRequest {
  readonly name: string;
  readonly args: Json;
  readonly token: string;
}

function tokenOf(request: Request, tokenInBody: unknown): string {
  const [, bearer] = request.headers.authorization?.match(/^Bearer (.+)$/) ?? [];
  return bearer ?? stringOf(tokenInBody);
}

function call(slack: SlackState, secondsToWait: SecondsToWait, request: CallRequest): CallResult {
  const { name, args } = request;
  if (!slack.reachable) return { status: null, reply: null, disconnect: true };
  const method = methodNamed(name);
  if (!method) return failed('unknown_method', { req_method: name });
  const fault = takeFault(slack.faults, name, args);
  if (fault && fault.how !== 'reply-lost') return faultResult(fault);
  const result = run(slack, secondsToWait, method, request);
  return fault && result.status === 200 ? { ...result, status: null, disconnect: true } : result;
}

const methodNamed = (name: string): Method | undefined =>
  Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;

function run(
  slack: SlackState,
  secondsToWait: SecondsToWait,
  method: Method,
  { name, args, token }: CallRequest,
): CallResult {
  try {
    checkToken(slack, method, token);
    if (method.isInOneWorkspace) checkWorkspace(slack.workspace, args);
    const wait = secondsToWait(name, method, args);
    return wait > 0 ? rateLimited(wait) : { status: 200, reply: method.run(slack, args) };
  } catch (error) {
    if (error instanceof Refused) return { status: 200, reply: error.reply };
    throw error;
  }
}

function checkToken(slack: SlackState, method: Method, token: string): void {
  if (token === '') refuse('not_authed');
  const { bot, app } = slack.tokens;
  if (token !== bot && token !== app) refuse('invalid_auth');
  if (token === bot && slack.isUninstalled) refuse('account_inactive');
  if (token !== slack.tokens[method.token]) refuse('not_allowed_token_type');
  const { scopes } = method;
  const granted = method.token === 'app' ? slack.tokens.appScopes : slack.manifest.scopes;
  if (scopes.length > 0 && !scopes.some((one) => granted.includes(one)))
    missingScope(granted, scopes.join(','));
}

function checkWorkspace(workspace: Workspace, args: Json): void {
  if (!workspace.orgWide) return;
  const team = text(args, 'team_id');
  if (team === undefined) refuse('missing_argument', { arg: 'team_id' });
  if (!workspacesOf(workspace).includes(team)) refuse('team_access_not_granted');
}

function faultResult({ how, retryAfterSeconds }: SlackFault): CallResult {
  if (how === 'rate-limited') return rateLimited(retryAfterSeconds ?? 1);
  if (how === 'server-error') return { ...failed('internal_error'), status: 500 };
  if (how === 'html') return { status: 200, reply: null };
  if (how === 'no-reply' || how === 'reply-lost') return { status: null, reply: null };
  return failed(how.error);
}

function failed(error: string, more: Json = {}): CallResult {
  return { status: 200, reply: { ok: false, error, ...more } };
}

function rateLimited(seconds: number): CallResult {
  return { ...failed('ratelimited'), status: 429, retryAfterSeconds: seconds };
}

function send(slack: SlackState, response: Response, name: string, result: CallResult): void {
  if (result.disconnect) return void response.destroy();
  // A call without an answer stays open until the caller disconnects or the simulator stops.
  if (result.status === null) return;
  response.status(result.status);
  response.set('x-oauth-scopes', slack.manifest.scopes.join(','));
  response.set('x-accepted-oauth-scopes', (methodNamed(name)?.scopes ?? []).join(','));
  if (result.retryAfterSeconds) response.set('retry-after', String(result.retryAfterSeconds));
  if (result.reply) response.json(result.reply);
  else response.type('html').send('<!doctype html><title>Bad gateway</title>');
}
