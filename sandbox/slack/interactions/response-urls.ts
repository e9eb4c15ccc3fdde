import { randomBytes } from 'node:crypto';
import express, { type Router } from 'express';
import { jsonOr, parsed } from '../json.ts';
import type { SlackState } from '../state.ts';
import { reply, type Source } from './replies.ts';

const LIFE_MS = 30 * 60_000;
const USES = 5;

export interface ResponseUrl {
  readonly source: Source;
  readonly issuedAt: number;
  uses: number;
}

export function issueResponseUrl(slack: SlackState, source: Source): string {
  const key = randomBytes(12).toString('hex');
  slack.responseUrls.set(key, { source, issuedAt: slack.now().getTime(), uses: 0 });
  return `${slack.url}/actions/${slack.workspace.teamId}/${key}`;
}

export function responseUrlRoutes(slack: SlackState): Router {
  const router = express.Router();
  const body = express.text({ type: () => true, limit: '1mb' });
  router.post('/actions/:team/:key', body, (request, response) => {
    const answer = use(slack, String(request.params.key), String(request.body));
    response.status(answer.status).json(answer.json);
  });
  return router;
}

function use(slack: SlackState, key: string, body: string) {
  const found = slack.responseUrls.get(key);
  if (!found || slack.now().getTime() - found.issuedAt > LIFE_MS) {
    return { status: 404, json: { ok: false, error: 'expired_url' } };
  }
  if (found.uses >= USES) return { status: 404, json: { ok: false, error: 'used_url' } };
  found.uses += 1;
  const json = reply(slack, found.source, jsonOr(parsed(body)));
  return { status: json.ok === true ? 200 : 400, json };
}
