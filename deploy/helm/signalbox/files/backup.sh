umask 077
address=$(cat /run/secrets/signalbox/database-url)
# As strict as Signalbox. sslrootcert in the address names a CA of your own.
case $address in
  *sslmode=[!v]*) ;;
  *) export PGSSLMODE=verify-full PGSSLROOTCERT=system ;;
esac
file=/backups/signalbox-$(date -u +%Y%m%dT%H%M%SZ).dump
pg_dump --format=custom --file="$file.partial" "$address"
mv "$file.partial" "$file"
find /backups -name 'signalbox-*.dump*' -mtime "+${KEEP_DAYS:-14}" -delete
