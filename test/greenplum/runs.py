"""Configurations, packing and runs that the tests of the cluster share."""

from digits import outputs, query, value

LOSS = "loss='categorical_crossentropy', metrics=['accuracy'], optimizer="
OPTIMIZERS = ["'SGD(lr=0.05, momentum=0.9)'", "'RMSprop(lr=0.003)'", "'Adam(lr=0.01)'"]
# Eight configurations: three optimizers, both networks (one with dropout and batch norm).
CONFIGS = [(key + 1, 1 + key % 2, LOSS + OPTIMIZERS[key % 3], f"batch_size={32 + 8 * (key // 3)}")
           for key in range(8)]
SEED = 7


def pack(connection, table, partitions, source="digits", extra=""):
    query(connection, f"SELECT hopper.training_preprocessor('{source}', '{table}', 'label',"
          f" 'pixels', normalizing_const := 16, validation_fraction := 0.2, buffer_size := 100,"
          f" partitions := {partitions}{extra})")


def starts(connection, table):
    return value(connection, f"SELECT starts FROM {table}_summary")


def checksums(connection, table):
    return query(connection, "SELECT partition_id, buffer_id, n, encode(checksum, 'hex')"
                 f" FROM {table} ORDER BY 1, 2")


def fit(connection, data, output, configs, iterations=3, more=""):
    query(connection, f"SELECT * FROM hopper.fit_multiple_model('{data}', '{output}', '{configs}',"
          f" {iterations}, validation_table := '{data}_validation', seed := {SEED}{more})")


def digests(connection, table):
    return query(connection, f"SELECT mst_key, state_digest FROM {table}_info ORDER BY 1")


def curves(connection, table):
    return query(connection, "SELECT mst_key, iteration, split, metric, value"
                 f" FROM hopper.learning_curves('{table}') ORDER BY 1, 2, 3, 4")


def models(connection, table):
    return query(connection, "SELECT m.mst_key, md5(encode(m.model_weights, 'hex')),"
                 f" md5(m.model_arch::text) FROM {table} m ORDER BY 1")


def working_tables(connection):
    return outputs(connection, "%\\_hop\\_%")
