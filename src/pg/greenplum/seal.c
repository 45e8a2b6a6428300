/*
 * seal.c
 *		Descriptions that only a coordinator can make: a keyed digest (RFC 2104) under a secret.
 *
 * The secret has to be where every process of the cluster can read it without a query, segments in
 * the middle of a statement as well as the coordinator's own readers, and where roles cannot. That
 * is a user mapping: a catalog, the same on all nodes, from which PUBLIC has no rights to select,
 * and whose views show the options of PUBLIC's mapping to the owner of its server alone. It belongs
 * to the extension; dumps leave it out, and CREATE EXTENSION makes another one.
 */
#include "pg/greenplum/segments.h"

#include <fcntl.h>
#include <unistd.h>

#include "catalog/dependency.h"
#include "catalog/pg_extension.h"
#include "cdb/cdbvars.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "foreign/foreign.h"

#include "pg/greenplum/kernel.h"
#include "pg/greenplum/wire.h"

#define SECRET_SERVER "hopper_segments"
#define SECRET_OPTION "secret"
#define SECRET_BYTES 32			/* in hexadecimal digits: a block of the digest */
#define BLOCK PG_SHA256_BLOCK_LENGTH

/* What a seal is good for, before the bytes that it is about. */
typedef struct seal_scope
{
	int32		kind;
	int32		session;
	Oid			database;
	Oid			role;
} seal_scope;

/* PUBLIC's mapping, and its server; InvalidOid where there is none. */
static Oid
find_mapping(Oid *server)
{
	*server = get_foreign_server_oid(SECRET_SERVER, true);
	if (!OidIsValid(*server))
		return InvalidOid;
	return hopper_user_mapping(InvalidOid, *server);
}

/* NULL where there is none. */
static const char *
find_secret(void)
{
	Oid			server;
	ListCell   *cell;

	if (!OidIsValid(find_mapping(&server)))
		return NULL;
	foreach(cell, GetUserMapping(InvalidOid, server)->options)
	{
		DefElem    *option = lfirst(cell);

		if (strcmp(option->defname, SECRET_OPTION) == 0)
			return defGetString(option);
	}
	return NULL;
}

void
hopper_seal(hopper_description_kind kind, const char *bytes, size_t size,
			uint8 seal[HOPPER_SEAL_SIZE])
{
	const char *secret = find_secret();
	seal_scope	scope = {kind, gp_session_id, MyDatabaseId, GetUserId()};
	uint8		outer[BLOCK];
	uint8		inner[BLOCK + sizeof(scope)];

	StaticAssertStmt(HOPPER_SEAL_SIZE == PG_SHA256_DIGEST_LENGTH, "a seal is a digest");
	if (secret == NULL || strlen(secret) != BLOCK)
		hopper_unmet(errmsg("model_hopper has no secret for its segments in this database"),
					 errhint("Let the owner of the extension call hopper.segment_new_secret()."));
	for (int i = 0; i < BLOCK; i++)
	{
		inner[i] = (uint8) secret[i] ^ 0x36;
		outer[i] = (uint8) secret[i] ^ 0x5c;
	}
	memcpy(inner + BLOCK, &scope, sizeof(scope));
	hopper_sha256(inner, sizeof(inner), bytes, size, seal);
	hopper_sha256(outer, sizeof(outer), seal, HOPPER_SEAL_SIZE, seal);
}

static void
read_random(uint8 *bytes, size_t size)
{
	int			file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

	if (file < 0 || read(file, bytes, size) != (ssize_t) size)
		ereport(ERROR, errcode_for_file_access(),
				errmsg("could not read random bytes: %m"));
	close(file);
}

/*
 * Makes the mapping a member of the extension, on this node: PostgreSQL does it for the
 * foreign server alone, and would not drop the extension without the mapping.
 */
static void
keep_mapping(void)
{
	ObjectAddress extension = {ExtensionRelationId, get_extension_oid("model_hopper", false), 0};
	ObjectAddress mapping = {UserMappingRelationId, InvalidOid, 0};
	Oid			server;

	mapping.objectId = find_mapping(&server);
	if (OidIsValid(mapping.objectId) &&
		!OidIsValid(getExtensionOfObject(mapping.classId, mapping.objectId)))
		recordDependencyOn(&mapping, &extension, DEPENDENCY_EXTENSION);
}

/* segment_keep_secret(): a row a segment */
HOPPER_FUNCTION(hopper_sql_segment_keep_secret)
{
	FuncCallContext *call;

	if (SRF_IS_FIRSTCALL())
		SRF_FIRSTCALL_INIT();
	call = SRF_PERCALL_SETUP();
	if (call->call_cntr > 0)
		SRF_RETURN_DONE(call);
	keep_mapping();
	SRF_RETURN_NEXT(call, Int32GetDatum(GpIdentity.segindex));
}

/* segment_new_secret(): for CREATE EXTENSION, and for an owner who wants another one */
HOPPER_SPI_FUNCTION(hopper_sql_segment_new_secret)
{
	uint8		random[SECRET_BYTES];

	read_random(random, sizeof(random));
	hopper_exec("ALTER USER MAPPING FOR PUBLIC SERVER " SECRET_SERVER " OPTIONS (%s " SECRET_OPTION
				" %s)", find_secret() ? "SET" : "ADD",
				hopper_literal(hopper_hex(random, sizeof(random))));
	keep_mapping();
	(void) hopper_calls_select("SELECT * FROM segment_keep_secret()");
	PG_RETURN_VOID();
}
