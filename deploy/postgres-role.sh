# Runs once, when PostgreSQL makes its files: the role of Signalbox, which owns nothing. `signalbox migrate` grants what it needs.
psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --set=ON_ERROR_STOP=1 \
  --set=password="$(cat /run/secrets/signalbox_password)" <<'SQL'
create role signalbox login password :'password';
SQL
