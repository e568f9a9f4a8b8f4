import { HEAD_BYTES_MAX } from "./split-key.ts";
import type { Statement } from "./wire.ts";

/** The statements of the engine. Tables are those of `schema.ts`, found by the search path. */

/** The number of commits whose changed keys the database retains. */
export const CHANGES_MAX = 4_096;

/** A changed value up to this size comes along with its key; a larger one only if it is needed. */
const CHANGED_VALUE_BYTES_MAX = 4_096;

const TIME = "(extract(epoch from clock_timestamp()) * 1000)::bigint";

export const BEGIN: Statement = { name: "begin", text: "begin" };
export const COMMIT: Statement = { name: "commit", text: "commit" };
export const ROLLBACK: Statement = { name: "rollback", text: "rollback" };

/** Takes the write lock of the whole store, which a commit or rollback releases. */
export const LOCK_LAST: Statement = {
  name: "lock_last",
  text: "select number, stamp, milliseconds from last_commit for update",
};

/** The time after the lock was granted: a list of columns beside `for update` is made before. */
export const READ_TIME: Statement = { name: "read_time", text: `select ${TIME}` };

export const READ_LAST: Statement = {
  name: "read_last",
  text: `select number, stamp, milliseconds, ${TIME} from last_commit`,
};

/**
 * The keys that commits after $1 changed. A commit has at least one row; without a key it changed
 * none, or, if `is_all`, so many that they were not noted. No rows come if the ring has lost some.
 */
export const READ_CHANGES: Statement = {
  name: "read_changes",
  text: `
    select change.number, change.keys is null as is_all, changed.key, octet_length(kv.value),
      case when octet_length(kv.value) <= ${CHANGED_VALUE_BYTES_MAX} then kv.value end
    from last_commit join change on change.number > $1::bigint and change.number <= last_commit.number
      left join lateral unnest(change.keys) as changed(key) on true
      left join kv on kv.head = substr(changed.key, 1, ${HEAD_BYTES_MAX})
        and kv.digest = case when octet_length(changed.key) > ${HEAD_BYTES_MAX}
          then sha256(substr(changed.key, ${HEAD_BYTES_MAX + 1})) else ''::bytea end
    where last_commit.number - $1::bigint <= ${CHANGES_MAX}
    order by change.number`,
};

/** The values of the keys with heads $1 and digests $2, by their index in these arrays. */
export const READ_KEYS: Statement = {
  name: "read_keys",
  text: `
    select asked.at - 1, kv.value
    from unnest($1::bytea[], $2::bytea[]) with ordinality as asked(head, digest, at)
      join kv on kv.head = asked.head and kv.digest = asked.digest`,
};

/**
 * Up to $5 records from key ($1, $2) up to key ($3, $4). Values beyond a total of $6 bytes are left
 * out, but not the first one.
 */
function readRange(name: string, order: "asc" | "desc"): Statement {
  return {
    name,
    text: `
      select head, rest, case when before < $6::bigint then value end
      from (
        select head, rest, value, coalesce(sum(octet_length(value)) over (
          order by head ${order}, rest ${order} rows between unbounded preceding and 1 preceding
        ), 0) as before
        from kv
        where head >= $1::bytea and head <= $3::bytea
          and (head, rest) >= ($1::bytea, $2::bytea) and (head, rest) < ($3::bytea, $4::bytea)
        order by head ${order}, rest ${order}
        limit $5::bigint
      ) as part
      order by head ${order}, rest ${order}`,
  };
}

export const READ_RANGE_UP = readRange("read_range_up", "asc");
export const READ_RANGE_DOWN = readRange("read_range_down", "desc");

/** Whether `ADVANCE` has taken effect in the same transaction. */
function isAdvanced(id: string, sequence: string): string {
  return `exists (select from front_end where id = ${id}::bytea and sequence = ${sequence}::bigint)`;
}

/** Writes values, as part of the commit that is number $6 of front end $5. */
export const SET_KEYS: Statement = {
  name: "set_keys",
  text: `
    insert into kv (head, digest, rest, value)
    select * from unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[])
    where ${isAdvanced("$5", "$6")}
    on conflict (head, digest) do update set value = excluded.value`,
};

/** Deletes keys, as part of the commit that is number $4 of front end $3. */
export const DELETE_KEYS: Statement = {
  name: "delete_keys",
  text: `
    delete from kv using unnest($1::bytea[], $2::bytea[]) as dead(head, digest)
    where kv.head = dead.head and kv.digest = dead.digest and ${isAdvanced("$3", "$4")}`,
};

/**
 * Begins the writes of a commit: number $1 with keys $2, by front end $3 as its commit $4. Without a
 * row in the answer, nothing took effect: another number is the last one, or it is later than $7.
 */
export const ADVANCE: Statement = {
  name: "advance",
  text: `
    with last as (
        update last_commit set number = $1::bigint, stamp = $5::bigint, milliseconds = $6::bigint
        where number = $1::bigint - 1 and ($7::bigint is null or ${TIME} < $7::bigint)
        returning ${TIME} as now
      ),
      noted as (insert into change (number, keys) select $1::bigint, $2::bytea[] from last),
      dropped as (
        delete from change where number = (select $1::bigint - ${CHANGES_MAX} from last)
      ),
      counted as (
        update front_end set sequence = $4::bigint, milliseconds = $6::bigint
        where id = $3::bytea and exists (select from last)
      )
    select now from last`,
};

/** Sends $2 to all who listen to channel $1. */
export const NOTIFY: Statement = {
  name: "notify",
  text: "select pg_notify($1::text, $2::text)",
};

/** The number of a front end's last commit. */
export const READ_SEQUENCE: Statement = {
  name: "read_sequence",
  text: "select sequence from front_end where id = $1::bytea",
};
