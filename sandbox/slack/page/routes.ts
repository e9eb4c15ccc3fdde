import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import { ImpossibleGesture } from '../interactions/actor.ts';
import { command } from '../interactions/command.ts';
import { openHome, say } from '../interactions/home-and-messages.ts';
import { press, suggest } from '../interactions/press.ts';
import { shortcut } from '../interactions/shortcut.ts';
import { close, submit } from '../interactions/submit.ts';
import type { World } from '../state.ts';
import { memberOf } from '../workspace.ts';
import { markRead, screen } from './client-state.ts';
import * as requests from './requests.ts';

/** The routes with which the sandbox's page shows and does what a person sees and does. */
export function pageRoutes(world: World): Router {
  const router = express.Router();
  router.use(express.json({ limit: '1mb' }));
  router.get('/state', (request, response) => {
    response.json(look(world, request));
  });
  router.get('/events', (request, response) => follow(world, request, response));
  router.post('/command', gesture(world, requests.CommandTyped, command));
  router.post('/message', gesture(world, requests.MessageTyped, say));
  router.post('/action', gesture(world, requests.Pressed, press));
  router.post('/suggest', gesture(world, requests.Searched, suggest));
  router.post('/submit', gesture(world, requests.Submitted, submit));
  router.post('/close', gesture(world, requests.Closed, close));
  router.post('/shortcut', gesture(world, requests.ShortcutUsed, shortcut));
  router.post('/home', gesture(world, requests.HomeOpened, openHome));
  router.use(refusal);
  return router;
}

function gesture<Done>(
  world: World,
  schema: z.ZodType<Done>,
  run: (world: World, done: Done) => Promise<unknown>,
) {
  return async (request: Request, response: Response) => {
    response.json(await run(world, schema.parse(request.body)));
  };
}

function look(world: World, request: Request) {
  const { as, channel } = request.query;
  const person = viewer(world, as);
  if (typeof channel === 'string') markRead(world, person, channel);
  return screen(world, person);
}

function viewer(world: World, as: unknown): string {
  if (typeof as === 'string' && memberOf(world.workspace, as)) return as;
  throw new ImpossibleGesture('nobody of that name looks at this screen');
}

/** A stream that says only that something changed; several changes of one turn are one. */
function follow(world: World, request: Request, response: Response): void {
  viewer(world, request.query.as);
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
  world.watchers.add(watcher);
  request.on('close', () => world.watchers.delete(watcher));
}

/** A gesture that nobody can make is the page's mistake and is told so. */
function refusal(error: unknown, _: Request, response: Response, next: NextFunction): void {
  if (error instanceof ImpossibleGesture) response.status(409).json({ error: error.message });
  else if (error instanceof z.ZodError)
    response.status(400).json({ error: z.prettifyError(error) });
  else next(error);
}
