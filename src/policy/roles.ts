import { z } from 'zod';
import { strictConfigObject, withHint } from '../base/problem.ts';
import type { UserId } from '../changes/change.ts';
import type { Role } from './policy-types.ts';

const Group = z.string().regex(/^(@[\p{L}\d][\p{L}\d._-]*|S[A-Z0-9]{4,})$/u, {
  error: withHint('must be a user group', "its handle in quotes, '@db-leads', or its id, S…"),
});

/** The member id of a user. */
export const MemberId = z
  .string()
  .regex(/^[UW][A-Z0-9]{2,}$/, {
    error: withHint('must be the id of a user', 'U… or W…, from the profile: “Copy member ID”'),
  })
  // The pattern above has checked that the text is a user id.
  .transform((text) => text as UserId);

export function rolesSchema() {
  const RoleWord = z.string().regex(/^[a-z][a-z0-9-]*$/, {
    error: 'a role is named with lower-case letters, digits and dashes',
  });
  const RoleEntry = strictConfigObject({
    groups: z.array(Group).min(1).optional(),
    users: z.array(MemberId).min(1).optional(),
  })
    .refine(({ groups, users }) => groups || users, {
      error: withHint('has no members', 'set groups, users, or both'),
    })
    .transform(({ groups = [], users = [] }): Role => ({ groups, users }));
  return z
    .record(RoleWord, RoleEntry)
    .refine((roles) => Object.keys(roles).length > 0, { error: 'must not be empty' })
    .transform((roles): ReadonlyMap<string, Role> => new Map(Object.entries(roles)));
}
