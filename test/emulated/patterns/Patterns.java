import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import software.amazon.event.ruler.Machine;

/**
 * Reads a list of `{ patterns, records }` as JSON, and prints for each a list of booleans: whether
 * a record matches one of the patterns.
 */
class Patterns {
    public static void main(String[] arguments) throws Exception {
        ObjectMapper json = new ObjectMapper();
        List<List<Boolean>> answers = new ArrayList<>();
        for (JsonNode stream : json.readTree(System.in)) {
            Machine machine = new Machine();
            for (JsonNode pattern : stream.get("patterns")) machine.addRule(pattern.asText(), pattern.asText());
            List<Boolean> matches = new ArrayList<>();
            for (JsonNode record : stream.get("records")) {
                matches.add(!machine.rulesForJSONEvent(record.toString()).isEmpty());
            }
            answers.add(matches);
        }
        System.out.println(json.writeValueAsString(answers));
    }
}
