import { barsOf, rowOf } from './costs-figures.ts';
import { samplesOf } from './costs-replay.ts';
import { KINDS } from './costs-worlds.ts';

// One class of scenarios in a process of its own, so that every processor replays one.

const { KIND = '', MONTHS = '', SEED = '' } = process.env;
const kind = KINDS.find((one) => one === KIND);
if (!kind) throw new Error(`unknown class: ${KIND}`);
const samples = await samplesOf(kind, Number(MONTHS), Number(SEED));
process.send?.({ row: rowOf(kind, samples), bars: barsOf(kind, samples) });
process.disconnect?.();
