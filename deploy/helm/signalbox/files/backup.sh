umask 077
address=$(cat /run/secrets/signalbox/database-url)
# As strict as Signalbox: every mode but these two means verify-full. sslrootcert in the address names a CA of your own.
case $address in
  *[?\&]sslmode=disable*) ;;
  *[?\&]sslmode=no-verify*) address=$(printf %s "$address" | sed 's/sslmode=no-verify/sslmode=require/') ;;
  *)
    address=$(printf %s "$address" | sed 's/\([?&]\)sslmode=[^&]*/\1sslmode=verify-full/')
    export PGSSLMODE=verify-full PGSSLROOTCERT=system
    ;;
esac
file=/backups/signalbox-$(date -u +%Y%m%dT%H%M%SZ).dump
pg_dump --format=custom --file="$file.partial" "$address"
mv "$file.partial" "$file"
find /backups -name 'signalbox-*.dump*' -mtime "+${KEEP_DAYS:-14}" -delete
