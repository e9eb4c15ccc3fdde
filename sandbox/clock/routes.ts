import express, { Router } from 'express';
import { z } from 'zod';
import { ClockMoveChoice, type ClockState } from '../protocol.ts';
import type { ClockMover } from './clock-mover.ts';
import { targetOf } from './moves.ts';
import type { WorldClock } from './world-clock.ts';

/** The routes with which the page reads and moves the clock, to be mounted below `/sandbox`. */
export function clockRoutes(clock: WorldClock, mover: () => ClockMover): Router {
  const router = Router();
  const state = (): ClockState => ({
    now: clock.now().toISOString(),
    isMoving: mover().isMoving(),
  });
  router.get('/clock', (_, response) => void response.json(state()));
  router.post('/clock', express.json(), ({ body }, response) => {
    const input = ClockMoveChoice.safeParse(body);
    if (!input.success) {
      return void response.status(400).json({ error: z.prettifyError(input.error) });
    }
    if (mover().isMoving()) {
      return void response.status(409).json({ error: 'The clock is still moving.' });
    }
    void mover().walkTo(targetOf(input.data.move, clock.now()));
    response.json(state());
  });
  return router;
}
