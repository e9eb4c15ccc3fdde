import express, { type Request, type Response, type Router } from 'express';
import { type Json, record, stringOf } from '../../json.ts';
import type { SlackState } from '../state.ts';
import { type Workspace, workspacesOf } from '../workspace/workspace.ts';
import { appMethods } from './app.ts';
import { chatMethods } from './chat.ts';
import { conversationMethods } from './conversations.ts';
import { type SlackFault, takeFault } from './faults.ts';
import { fileMethods } from './files.ts';
import { type Method, missingScope, refuse, type SlackReply, text } from './method.ts';
import type { SecondsToWait } from './rate-limits.ts';
import type { MethodName } from './tiers.ts';
import { userMethods } from './users.ts';
import { viewMethods } from './views.ts';

const methods: Readonly<Record<MethodName, Method>> = {
  ...appMethods,
  ...chatMethods,
  ...conversationMethods,
  ...fileMethods,
  ...userMethods,
  ...viewMethods,
};

const isMethod = (name: string): name is MethodName => Object.hasOwn(methods, name);

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

function call(
  slack: SlackState,
  secondsToWait: SecondsToWait,
  { name, args, token }: CallRequest,
): CallResult {
  if (!slack.reachable) return { status: null, reply: null, disconnect: true };
  if (!isMethod(name)) return answered(refuse('unknown_method', { req_method: name }));
  const fault = takeFault(slack.faults, name, args);
  if (fault && fault.how !== 'reply-lost') return faultResult(fault);
  const refused =
    refuseToken(slack, methods[name], token) ?? refuseWorkspace(slack.workspace, name, args);
  const wait = refused ? 0 : secondsToWait(name, args);
  if (wait > 0) return rateLimited(wait);
  const reply = refused ?? methods[name].run(slack, args);
  return fault ? { status: null, reply, disconnect: true } : answered(reply);
}

function refuseToken(slack: SlackState, method: Method, token: string): SlackReply | null {
  if (token === '') return refuse('not_authed');
  const { bot, app } = slack.tokens;
  if (token !== bot && token !== app) return refuse('invalid_auth');
  if (token === bot && slack.isUninstalled) return refuse('account_inactive');
  if (token !== slack.tokens[method.token]) return refuse('not_allowed_token_type');
  const { scopes } = method;
  const granted = method.token === 'app' ? slack.tokens.appScopes : slack.manifest.scopes;
  if (scopes.length === 0 || scopes.some((one) => granted.includes(one))) return null;
  return missingScope(granted, scopes.join(','));
}

/** What acts on one workspace, which the token of an installation for an organization does not name. */
const IN_ONE_WORKSPACE: readonly MethodName[] = [
  ...(['bots.info', 'conversations.list', 'users.list'] as const),
  ...(['usergroups.list', 'usergroups.users.list'] as const),
];

function refuseWorkspace(workspace: Workspace, name: MethodName, args: Json): SlackReply | null {
  if (!workspace.orgWide || !IN_ONE_WORKSPACE.includes(name)) return null;
  const team = text(args, 'team_id');
  if (team === undefined) return refuse('missing_argument', { arg: 'team_id' });
  return workspacesOf(workspace).includes(team) ? null : refuse('team_access_not_granted');
}

function faultResult({ how, retryAfterSeconds }: SlackFault): CallResult {
  if (how === 'rate-limited') return rateLimited(retryAfterSeconds ?? 1);
  if (how === 'server-error') return { status: 500, reply: refuse('internal_error') };
  if (how === 'html') return { status: 200, reply: null };
  if (how === 'no-reply' || how === 'reply-lost') return { status: null, reply: null };
  return answered(refuse(how.error));
}

function answered(reply: SlackReply): CallResult {
  return { status: 200, reply };
}

function rateLimited(seconds: number): CallResult {
  return { status: 429, reply: refuse('ratelimited'), retryAfterSeconds: seconds };
}

function send(slack: SlackState, response: Response, name: string, result: CallResult): void {
  if (result.disconnect) return void response.destroy();
  // A call without an answer stays open until the caller disconnects or the simulator stops.
  if (result.status === null) return;
  response.status(result.status);
  response.set('x-oauth-scopes', slack.manifest.scopes.join(','));
  response.set('x-accepted-oauth-scopes', (isMethod(name) ? methods[name].scopes : []).join(','));
  if (result.retryAfterSeconds) response.set('retry-after', String(result.retryAfterSeconds));
  if (result.reply) response.json(result.reply);
  else response.type('html').send('<!doctype html><title>Bad gateway</title>');
}
