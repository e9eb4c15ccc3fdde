import { useSession } from '../session.ts';

const KINDS: Readonly<Record<string, string>> = {
  guest: 'Guest',
  external: 'Another workspace',
};

// An app does not type, and a deactivated person cannot sign in any more.
const ABSENT = new Set(['bot', 'deactivated']);

/** Who is looking. The channel stays where the next person can see it too. */
export function ActAs() {
  const { screen, go } = useSession();
  const people = screen.people.filter(({ kind }) => !ABSENT.has(kind));
  return (
    <label className="act-as">
      <span>Act as</span>
      <select
        value={screen.me.id}
        onChange={({ target }) => go({ as: target.value, thread: null })}
      >
        {people.map(({ id, name, title, kind }) => (
          <option key={id} value={id}>
            {[name, title || KINDS[kind]].filter(Boolean).join(' · ')}
          </option>
        ))}
      </select>
    </label>
  );
}
