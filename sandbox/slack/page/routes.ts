import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import { type PageState, requests } from '../../protocol.ts';
import { ImpossibleInteraction } from '../interactions/actor.ts';
import { command } from '../interactions/command.ts';
import { openHome, sendMessage } from '../interactions/home-and-messages.ts';
import { press, suggest } from '../interactions/press.ts';
import { shortcut } from '../interactions/shortcut.ts';
import { close, submit } from '../interactions/submit.ts';
import type { SlackState } from '../state.ts';
import { memberOf } from '../workspace/workspace.ts';
import { clientState, markRead } from './client-state.ts';

/** The routes through which the page of the sandbox reads the client state and acts. */
export function pageRoutes(slack: SlackState): Router {
  const router = express.Router();
  router.use(express.json({ limit: '1mb' }));
  router.get('/state', ({ query }, response) => {
    const person = viewer(slack, query.as);
    if (typeof query.channel === 'string') markRead(slack, person, query.channel);
    const state: PageState = { ...clientState(slack, person), now: slack.now().toISOString() };
    response.json(state);
  });
  router.get('/events', (request, response) => streamChanges(slack, request, response));
  router.post('/command', interaction(slack, requests.command, command));
  router.post('/message', interaction(slack, requests.message, sendMessage));
  router.post('/action', interaction(slack, requests.action, press));
  router.post('/suggest', interaction(slack, requests.suggest, suggest));
  router.post('/submit', interaction(slack, requests.submit, submit));
  router.post('/close', interaction(slack, requests.close, close));
  router.post('/shortcut', interaction(slack, requests.shortcut, shortcut));
  router.post('/home', interaction(slack, requests.home, openHome));
  router.use(sendError);
  return router;
}

function interaction<Input>(
  slack: SlackState,
  schema: z.ZodType<Input>,
  run: (slack: SlackState, input: Input) => Promise<unknown>,
) {
  return async (request: Request, response: Response) => {
    response.json(await run(slack, schema.parse(request.body)));
  };
}

function viewer(slack: SlackState, as: unknown): string {
  if (typeof as === 'string' && memberOf(slack.workspace, as)) return as;
  throw new ImpossibleInteraction('"as" is not the id of a person of the workspace');
}

/**
 * The least time between two events: a change of the bot makes several messages and requests at once, and each open page
 * reads and draws the whole state again.
 */
const EVENT_PAUSE_MS = 250;

/** Streams an event at once after a change, and one for all changes of the pause after it. */
function streamChanges(slack: SlackState, request: Request, response: Response): void {
  viewer(slack, request.query.as);
  response.set({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write('retry: 1000\n\n');
  let timer: NodeJS.Timeout | null = null;
  let pauseEnds = 0;
  const watcher = () => {
    timer ??= setTimeout(send, Math.max(0, pauseEnds - performance.now()));
  };
  const send = () => {
    timer = null;
    pauseEnds = performance.now() + EVENT_PAUSE_MS;
    response.write('event: changed\ndata: {}\n\n');
  };
  slack.watchers.add(watcher);
  request.on('close', () => {
    slack.watchers.delete(watcher);
    if (timer) clearTimeout(timer);
  });
}

function sendError(error: unknown, _: Request, response: Response, next: NextFunction): void {
  if (error instanceof ImpossibleInteraction) response.status(409).json({ error: error.message });
  else if (error instanceof z.ZodError)
    response.status(400).json({ error: z.prettifyError(error) });
  else next(error);
}
