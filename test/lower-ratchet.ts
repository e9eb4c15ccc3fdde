import { writeFileSync } from 'node:fs';
import { violations } from './house.ts';
import ratchet from './ratchet.json' with { type: 'json' };

// Writes what breaks a rule today into ratchet.json. A figure that grew stays as it was, so that the test still fails.
const known: Readonly<Record<string, Readonly<Record<string, number>>>> = ratchet;
const isFirst = Object.keys(known).length === 0;
const lowered = Object.entries(violations()).map(([rule, places]) => {
  const kept = Object.entries(places).map(([place, count]) => {
    return [place, isFirst ? count : Math.min(count, known[rule]?.[place] ?? 0)] as const;
  });
  return [rule, Object.fromEntries(kept.filter(([, count]) => count > 0))] as const;
});
writeFileSync('test/ratchet.json', `${JSON.stringify(Object.fromEntries(lowered), null, 2)}\n`);
