import { seedDefect } from '../controls/seed-defect.ts';
import { withKillPoints } from './kill-points.ts';
import { loadPatched } from './load-patched.ts';

// Loaded before the bot in a child process that has a seeded defect; the others start a bundle with the kill points.
const addKillPoints = withKillPoints();
loadPatched((path, text) => addKillPoints(path, seedDefect(path, text)));
