import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import { ImpossibleInteraction } from '../interactions/actor.ts';
import { command } from '../interactions/command.ts';
import { openHome, sendMessage } from '../interactions/home-and-messages.ts';
import { press, suggest } from '../interactions/press.ts';
import { shortcut } from '../interactions/shortcut.ts';
import { close, submit } from '../interactions/submit.ts';
import type { SlackState } from '../state.ts';
import { memberOf } from '../workspace.ts';
import { clientState, markRead } from './client-state.ts';
import * as requests from './requests.ts';

/** The routes with which the sandbox's page shows and does what a person sees and does. */
export function pageRoutes(slack: SlackState): Router {
  const router = express.Router();
  router.use(express.json({ limit: '1mb' }));
  router.get('/state', (request, response) => {
    response.json(look(slack, request));
  });
  router.get('/events', (request, response) => follow(slack, request, response));
  router.post('/command', gesture(slack, requests.CommandTyped, command));
  router.post('/message', gesture(slack, requests.MessageTyped, sendMessage));
  router.post('/action', gesture(slack, requests.Pressed, press));
  router.post('/suggest', gesture(slack, requests.Searched, suggest));
  router.post('/submit', gesture(slack, requests.Submitted, submit));
  router.post('/close', gesture(slack, requests.Closed, close));
  router.post('/shortcut', gesture(slack, requests.ShortcutUsed, shortcut));
  router.post('/home', gesture(slack, requests.HomeOpened, openHome));
  router.use(refusal);
  return router;
}

function gesture<Done>(
  slack: SlackState,
  schema: z.ZodType<Done>,
  run: (slack: SlackState, done: Done) => Promise<unknown>,
) {
  return async (request: Request, response: Response) => {
    response.json(await run(slack, schema.parse(request.body)));
  };
}

function look(slack: SlackState, request: Request) {
  const { as, channel } = request.query;
  const person = viewer(slack, as);
  if (typeof channel === 'string') markRead(slack, person, channel);
  return clientState(slack, person);
}

function viewer(slack: SlackState, as: unknown): string {
  if (typeof as === 'string' && memberOf(slack.workspace, as)) return as;
  throw new ImpossibleInteraction('nobody of that name looks at this screen');
}

/** A stream that says only that something changed; several changes of one turn are one. */
function follow(slack: SlackState, request: Request, response: Response): void {
  viewer(slack, request.query.as);
  response.set({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write('retry: 1000\n\n');
  let due = false;
  const watcher = () => {
    if (due) return;
    due = true;
    setImmediate(() => {
      due = false;
      response.write('event: changed\ndata: {}\n\n');
    });
  };
  slack.watchers.add(watcher);
  request.on('close', () => slack.watchers.delete(watcher));
}

/** A gesture that nobody can make is the page's mistake and is told so. */
function refusal(error: unknown, _: Request, response: Response, next: NextFunction): void {
  if (error instanceof ImpossibleInteraction) response.status(409).json({ error: error.message });
  else if (error instanceof z.ZodError)
    response.status(400).json({ error: z.prettifyError(error) });
  else next(error);
}
