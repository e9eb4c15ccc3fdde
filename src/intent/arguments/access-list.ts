import { z } from 'zod';
import type { FieldProblem } from '../../base/errors.ts';

const LINE = 'must hold one address per line, for example 10.0.0.0/8';
const Source = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()], { error: LINE });

/** `10.0.0.0/8 office` → source and description; at least one, else no client could connect. */
export const AccessList = z
  .array(
    z
      .string({ error: LINE })
      .transform((line) => {
        const [source = '', ...words] = line.trim().split(/\s+/);
        return { source, description: words.join(' ') };
      })
      .pipe(z.object({ source: Source, description: z.string() })),
    { error: LINE },
  )
  .min(1, 'needs at least one address, for example 10.0.0.0/8')
  .max(100, 'can have at most 100 addresses');

export type AccessList = z.output<typeof AccessList>;

const WIDEST = { v4: 8, v6: 16 } as const;

/**
 * Returns a problem for each range wider than /8 (IPv6: /16). Two halves would allow all addresses;
 * with this limit, 100 ranges cover only a part of them.
 */
export function opensToTheWorld(list: AccessList): readonly FieldProblem[] {
  const open = list.filter(({ source }) => {
    const [address = '', length] = source.split('/');
    const widest = address.includes(':') ? WIDEST.v6 : WIDEST.v4;
    return length !== undefined && Number(length) < widest;
  });
  return open.map(({ source }) => ({
    field: 'ipAccessList',
    problem: `must not allow all addresses, or a large part of them, (${source})`,
  }));
}
