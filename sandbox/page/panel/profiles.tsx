import type { Panel } from '../../protocol.ts';
import { APIS } from './faults.tsx';
import type { Ask } from './panel.tsx';

export function Profiles({ panel, ask }: { panel: Panel; ask: Ask }) {
  return (
    <section>
      <h3>Profiles</h3>
      <div className="profiles">
        {APIS.map(({ api, name }) => (
          <label key={api}>
            {name}
            <select
              value={panel.profiles[api].now}
              onChange={({ target }) => ask('profile', { api, profile: target.value })}
            >
              {panel.profiles[api].all.map((profile) => (
                <option key={profile}>{profile}</option>
              ))}
            </select>
          </label>
        ))}
      </div>
    </section>
  );
}
